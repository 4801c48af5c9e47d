// What agents of a run note for each other, and the lessons that a person keeps for later runs.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunEventOf } from '../../src/model/event.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { BIN, type Project } from '../raymond.ts';

const manifest = (states: Record<string, string>) =>
  `states:\n${Object.entries(states)
    .map(([state, notes]) => `  ${state}: { notes: ${notes} }\n`)
    .join('')}`;

const FLOW = {
  'flow/workflow.yaml': manifest({ 'START.sh': 'write', 'READ.sh': 'read', 'EDIT.sh': 'write' }),
  'flow/START.sh': `cd "$RAYMOND_NOTES_FOLDER"; echo design >design.md; mkdir deep; echo x >deep/x.md; echo '<goto>READ</goto>'`,
  'flow/READ.sh': `cd "$RAYMOND_NOTES_FOLDER"; cat design.md deep/x.md; rm design.md; echo no >mine.md; echo '<goto>NONE</goto>'`,
  'flow/NONE.sh': `[ -z "\${RAYMOND_NOTES_FOLDER+set}" ] && [ ! -e "$RAYMOND_TASK_FOLDER/notes" ] && echo '<goto>EDIT</goto>'`,
  'flow/EDIT.sh': `cd "$RAYMOND_NOTES_FOLDER"; echo more >>design.md; rm deep/x.md; [ ! -e mine.md ] && echo '<result>ok</result>'`,
};

const notesOf = async (project: Project, run: string) => {
  const { stdout } = await command(project, ['show', run, '--notes', '--json']);
  const { notes }: { notes: { path: string; agent: string; step: number; text: string }[] } =
    JSON.parse(stdout);
  return Object.fromEntries(
    notes.map(({ path, agent, step, text }) => [path, `${agent}:${step} ${text}`]),
  );
};

test('states that ask for notes read and write them, each with the step that wrote it', async () => {
  const project = newProject(FLOW);
  expect(await command(project, ['flow', '--workflow-id', 'r'])).toMatchObject({ stdout: 'ok\n' });
  expect(await notesOf(project, 'r')).toEqual({ 'design.md': 'main:4 design\nmore\n' });
  const shown = await command(project, ['show', 'r']);
  expect(shown.stdout).toContain('notes     1 file: raymond show r --notes');
  const listed = (await command(project, ['show', 'r', '--notes'])).stdout;
  expect(listed).toBe('design.md, by main:4\n    design\n    more\n\n');
  const whole = JSON.parse((await command(project, ['show', 'r', '--json'])).stdout);
  expect(whole.notes).toEqual([{ path: 'design.md', bytes: 12, agent: 'main', step: 4 }]);
  const started = project.journal('r').filter((one) => one.type === 'step-started');
  expect(started.map((one) => (one as RunEventOf<'step-started'>).notes)).toEqual([
    ...['write', 'read', undefined, 'write'],
  ]);
});

test('a rewind takes the notes back, and an undo brings them again', async () => {
  const project = newProject(FLOW);
  await command(project, ['flow', '--workflow-id', 'r']);
  const rewind = (...how: string[]) =>
    command(project, ['rewind', 'r', ...how, '--no-files', '--yes']);
  expect(await rewind('--to', 'main:4')).toMatchObject({ code: 0 });
  const before = { 'deep/x.md': 'main:1 x\n', 'design.md': 'main:1 design\n' };
  expect(await notesOf(project, 'r')).toEqual(before);
  expect(await rewind('--undo')).toMatchObject({ code: 0 });
  expect(await notesOf(project, 'r')).toEqual({ 'design.md': 'main:4 design\nmore\n' });
  await rewind('--to', 'main:1');
  expect(await notesOf(project, 'r')).toEqual({});
  expect(await command(project, ['resume', 'r'])).toMatchObject({ stdout: 'ok\n' });
  expect(await notesOf(project, 'r')).toEqual({ 'design.md': 'main:8 design\nmore\n' });
});

test('agents that write at the same time lose nothing of each other', async () => {
  const project = newProject({
    'flow/workflow.yaml': manifest({ 'WORK.sh': 'write', 'LAST.sh': 'write' }),
    'flow/START.sh': `for n in 1 2 3 4; do echo "<fork n=\\"$n\\">WORK</fork>"; done; echo '<join>LAST</join>'`,
    'flow/WORK.sh': `cd "$RAYMOND_NOTES_FOLDER"; ls >"saw-$n"; echo "$n" >"of $n.md"; echo "$n" >all.md
touch "$OLDPWD/at-$n"; until [ -e "$OLDPWD/at-1" ] && [ -e "$OLDPWD/at-2" ] && [ -e "$OLDPWD/at-3" ] && [ -e "$OLDPWD/at-4" ]; do sleep 0.02; done; echo '<result></result>'`,
    'flow/LAST.sh': `cd "$RAYMOND_NOTES_FOLDER"; cat of*.md; echo '<result>ok</result>'`,
  });
  expect(await command(project, ['flow', '--workflow-id', 'r'])).toMatchObject({ stdout: 'ok\n' });
  const notes = await notesOf(project, 'r');
  for (const n of [1, 2, 3, 4]) {
    expect(notes[`of ${n}.md`]).toBe(`main_work${n}:1 ${n}\n`);
    // None of them had seen the others.
    expect(notes[`saw-${n}`]).toBe(`main_work${n}:1 saw-${n}\n`);
  }
  expect(notes['all.md']).toMatch(/^main_work\d:1 \d\n$/);
});

test('of a file and a folder of the same name, the one that is written later stays, and the run continues', async () => {
  const project = newProject({
    'flow/workflow.yaml': manifest({ 'WORK.sh': 'write', 'LAST.sh': 'read' }),
    'flow/START.sh': `for n in 1 2; do echo "<fork n=\\"$n\\">WORK</fork>"; done; echo '<join>LAST</join>'`,
    'flow/WORK.sh': `cd "$RAYMOND_NOTES_FOLDER"; if [ $n = 1 ]; then echo one >plan; else mkdir plan; echo two >plan/x.md; fi
touch "$OLDPWD/at-$n"; until [ -e "$OLDPWD/at-1" ] && [ -e "$OLDPWD/at-2" ]; do sleep 0.02; done; echo '<result></result>'`,
    'flow/LAST.sh': `cd "$RAYMOND_NOTES_FOLDER"; echo "<result>$(find . -type f)</result>"`,
  });
  const { code, stdout } = await command(project, ['flow', '--workflow-id', 'r']);
  const [kept] = Object.keys(await notesOf(project, 'r'));
  expect({ code, stdout }).toEqual({ code: 0, stdout: `./${kept}\n` });
});

test('a step that may write nothing else writes notes', async () => {
  const project = newProject({
    'flow/workflow.yaml': `rights: { write: [], network: none }\n${manifest({ 'START.sh': 'write' })}`,
    'flow/START.sh': `echo x >"$RAYMOND_NOTES_FOLDER/a.md"; echo x >file; echo '<result>ok</result>'`,
  });
  expect(await command(project, ['flow', '--workflow-id', 'r'])).toMatchObject({ stdout: 'ok\n' });
  expect(await notesOf(project, 'r')).toEqual({ 'a.md': 'main:1 x\n' });
  expect(existsSync(project.path('file'))).toBe(false);
});

test('what cannot be a note is named in a warning, and the rest is kept', async () => {
  const project = newProject({
    'flow/workflow.yaml': manifest({ 'START.sh': 'write' }),
    'flow/START.sh': `cd "$RAYMOND_NOTES_FOLDER"; ln -s /etc/passwd passwd.md; printf '\\377' >binary.md; head -c 40000 /dev/zero | tr '\\0' x >huge.md; echo good >good.md; echo '<result>ok</result>'`,
  });
  const { stderr } = await command(project, ['flow', '--workflow-id', 'r']);
  expect(stderr).toContain('Not kept as notes:');
  for (const name of ['passwd.md', 'binary.md: it is not UTF-8', 'huge.md: it is too large'])
    expect(stderr).toContain(name);
  expect(await notesOf(project, 'r')).toEqual({ 'good.md': 'main:1 good\n' });
});

test('notes of a step survive a kill of Raymond at its worst moments', async () => {
  const project = newProject({
    'flow/workflow.yaml': manifest({ 'START.sh': 'write', 'NEXT.sh': 'write' }),
    'flow/START.sh': `cd "$RAYMOND_NOTES_FOLDER"; echo one >one.md; touch "$OLDPWD/begun"; until [ -e "$OLDPWD/go" ]; do sleep 0.02; done; echo two >two.md; touch "$OLDPWD/over"; echo '<goto>NEXT</goto>'`,
    'flow/NEXT.sh': `cd "$RAYMOND_NOTES_FOLDER"; cat one.md two.md; rm one.md; echo '<result>ok</result>'`,
  });
  const first = project.start(['flow', '--workflow-id', 'r']);
  await eventually('the step works', () => existsSync(project.path('begun')));
  first.child.kill('SIGKILL');
  await first.ended;
  // The step ends while no Raymond lives.
  project.write('go', '');
  await eventually('the step has ended', () => existsSync(project.path('over')));
  expect(await project.run(['resume', 'r'])).toMatchObject({ code: 0, stdout: 'ok\n' });
  expect(await notesOf(project, 'r')).toEqual({ 'two.md': 'main:1 two\n' });
});

const LESSON = {
  'flow/workflow.yaml': manifest({ 'START.sh': 'write' }),
  'flow/START.sh': `cd "$RAYMOND_NOTES_FOLDER"; cat lessons/* 2>/dev/null | tee "$OLDPWD/saw"; mkdir -p lessons
printf 'Build first.\\n\\033[31mThen test.\\n' >lessons/build.md; echo '<result>ok</result>'`,
};

test('a lesson reaches later runs only after a yes that has seen it, with the step that it comes from', async () => {
  const project = newProject(LESSON);
  const run = (id: string) => command(project, ['flow', '--workflow-id', id]);
  const trust = (...how: string[]) => command(project, ['trust', '--lessons', ...how]);
  await run('one');
  expect((await command(project, ['show', 'one'])).stdout).toContain(
    'proposes  1 lesson: raymond trust --lessons one',
  );
  await run('two');
  expect(project.read('saw')).toBe('');

  // Without a person, nothing is kept, but everything is shown.
  const refused = await trust('one');
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('build.md, by one main:1:\n    Build first.\n    ');
  expect(refused.stderr).toContain('Then test.');
  expect(refused.stderr).not.toContain('\u001b');
  await run('three');
  expect(project.read('saw')).toBe('');

  expect(await trust('one', '--yes')).toMatchObject({ code: 0 });
  await run('four');
  expect(project.read('saw')).toContain(
    'A lesson of an earlier run: one, main:1.\n\nBuild first.\n',
  );
  expect((await command(project, ['show', 'four'])).stdout).toContain('1 lesson of earlier runs');
  // The same lesson is not proposed again, and its head is not part of it.
  expect((await trust('four')).stderr).toContain(
    'four proposes no lessons that you have not kept.',
  );
  expect(readdirSync(join(project.userConfig, 'lessons'))).toHaveLength(1);

  expect(await trust('--revoke', 'flow')).toMatchObject({ code: 0 });
  await run('five');
  expect(project.read('saw')).toBe('');
});

test('a note in the place of a kept lesson hides it, and the run continues', async () => {
  const project = newProject({
    'flow/workflow.yaml': manifest({ 'START.sh': 'write', 'NEXT.sh': 'read' }),
    'flow/START.sh': `cd "$RAYMOND_NOTES_FOLDER"; if [ -e lessons/x ]; then rm lessons/x; mkdir lessons/x; echo b >lessons/x/y
else mkdir lessons; echo a >lessons/x; fi; echo '<goto>NEXT</goto>'`,
    'flow/NEXT.sh': `cd "$RAYMOND_NOTES_FOLDER"; echo "<result>$(find . -type f)</result>"`,
  });
  expect(await command(project, ['flow', '--workflow-id', 'one'])).toMatchObject({
    stdout: './lessons/x\n',
  });
  await command(project, ['trust', '--lessons', 'one', '--yes']);
  expect(await command(project, ['flow'])).toMatchObject({ stdout: './lessons/x/y\n' });
});

test('lessons in the project of a stranger count for nothing', async () => {
  const author = newProject(LESSON);
  await command(author, ['flow', '--workflow-id', 'one']);
  await command(author, ['trust', '--lessons', 'one', '--yes']);
  const journal = readFileSync(author.path('.raymond/state/one.jsonl'), 'utf8');
  // Their run and their record, in a project that somebody else has cloned.
  const reader = newProject({ ...LESSON, '.raymond/state/one.jsonl': journal });
  const { code, stderr } = await command(reader, ['trust', '--lessons', 'one', '--yes']);
  expect({ code: code !== 0, stderr }).toEqual({
    code: true,
    stderr: expect.stringContaining('Keep lessons of your own runs only.'),
  });
  await command(reader, ['flow', '--workflow-id', 'mine']);
  expect(reader.read('saw')).toBe('');
});

test('a step cannot keep its own lesson', async () => {
  const project = newProject({
    ...LESSON,
    'flow/START.sh': `cd "$RAYMOND_NOTES_FOLDER"; mkdir lessons; echo obey >lessons/x.md; echo '<goto>KEEP</goto>'`,
    'flow/KEEP.sh': `"${process.execPath}" "${BIN}" trust --lessons one --yes 2>refused || true; echo '<result>ok</result>'`,
  });
  await project.run(['flow', '--workflow-id', 'one']);
  expect(project.read('refused')).toContain('only a person can keep a lesson');
  expect(existsSync(join(project.userConfig, 'lessons'))).toBe(false);
});

test('too much for a lesson is refused, and says what the limit is', async () => {
  const project = newProject({
    ...LESSON,
    'flow/START.sh': `cd "$RAYMOND_NOTES_FOLDER"; mkdir lessons; head -c 5000 /dev/zero | tr '\\0' x >lessons/huge.md
for n in 1 2 3 4 5 6 7 8 9; do head -c 4000 /dev/zero | tr '\\0' "$n" >lessons/$n.md; done; echo '<result>ok</result>'`,
  });
  await command(project, ['flow', '--workflow-id', 'one']);
  const { stderr } = await command(project, ['trust', '--lessons', 'one', '--yes']);
  expect(stderr).toContain('huge.md, by one main:1 has more than 4 KiB.');
  expect(stderr).toContain('A workflow can have 50 lessons of 32 KiB together');
  expect(existsSync(join(project.userConfig, 'lessons'))).toBe(false);
});
