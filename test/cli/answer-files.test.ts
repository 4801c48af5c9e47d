/** Files with questions and answers, from the tag to the state that receives them. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import * as raymond from '../../src/index.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';
import { count, hasAsked } from './asking.ts';

const SHOWS = `mkdir -p out; echo 'All is well.' >report.md; printf 'GIF89a' >out/plot.gif
echo '<ask next="NEXT" files="report.md,out/plot.gif">Ship?</ask>'`;

const NEXT = `echo "$RAYMOND_ANSWER_FILES" >got
IFS='
'
for one in $RAYMOND_ANSWER_FILES; do cat "$one" >>got; [ -x "$one" ] && echo runs >>got; done
echo "<result>$RAYMOND_RESULT</result>"`;

const FLOWS = {
  'shows/START.sh': SHOWS,
  'shows/NEXT.sh': NEXT,
  'stays/START.sh': SHOWS.replace('files=', 'timeout="24h" timeout_next="NEXT" files='),
  'stays/NEXT.sh': NEXT,
  'bad/START.sh': `echo '<ask next="NEXT" files="none.md">Ship?</ask>'`,
  'bad/NEXT.sh': `echo '<result>x</result>'`,
  'signs/START.sh': `echo hi >report.md
echo '<ask next="NEXT" to="release" files="report.md">Ship?</ask>'`,
  'signs/NEXT.sh': `echo '<result>x</result>'`,
};

afterEach(() => {
  vi.unstubAllEnvs();
});

async function asked(files: Readonly<Record<string, string>> = {}): Promise<Project> {
  const project = newProject({ ...FLOWS, ...files });
  expect(await command(project, ['shows', '--workflow-id', 'q'])).toMatchObject({ code: 2 });
  return project;
}

const received = (project: Project) => readFileSync(project.path('got'), 'utf8').split('\n');

test('a question shows files as they were when it was asked', async () => {
  const project = await asked();
  writeFileSync(project.path('report.md'), 'Nothing is well.');
  const show = (...args: string[]) => command(project, ['show', 'q', ...args]);
  const hint = 'File report.md (13 bytes): raymond show q --file report.md';
  expect((await show()).stdout).toContain(hint);
  expect((await command(project, ['inbox'])).stdout).toContain(
    'Files: report.md (13 bytes), out/plot.gif (6 bytes)',
  );
  expect((await command(project, ['logs', 'q'])).stdout).toContain(
    '[files: report.md (13 bytes), out/plot.gif (6 bytes)]',
  );
  expect(await show('--file', 'report.md')).toMatchObject({ code: 0, stdout: 'All is well.\n' });
  const listed = (await show('--files')).stdout;
  expect(listed).toMatch(/report\.md +13 bytes +asked by main/);
  const hash = /[0-9a-f]{8}$/m.exec(listed)?.[0] ?? '';
  expect((await show('--file', hash)).stdout).toBe('All is well.\n');
  expect(await show('--files', '--save', 'copies')).toMatchObject({ code: 0 });
  expect(readdirSync(project.path('copies')).sort()).toEqual(['plot.gif', 'report.md']);
  expect(await show('--files', '--save', 'copies')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('cannot be saved'),
  });
  expect(await show('--file', 'other')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('To see the files: raymond show q --files'),
  });
  const [question] = JSON.parse((await show('--json')).stdout).agents;
  expect(question.status).toMatchObject({
    files: [{ name: 'report.md', bytes: 13 }, { name: 'out/plot.gif' }],
    most_file_bytes: 20 * 1024 * 1024,
  });
});

test('a terminal shows text without anything that acts, and no picture', async () => {
  const project = newProject({
    'shows/START.sh': `printf 'a\\033[31mred' >r.md; printf 'GIF89a\\000' >p.gif
echo '<ask next="NEXT" files="r.md,p.gif">?</ask>'`,
    'shows/NEXT.sh': `echo '<result>x</result>'`,
  });
  await command(project, ['shows', '--workflow-id', 'q']);
  const show = (name: string) =>
    command(project, ['show', 'q', '--file', name], { isTerminal: true });
  expect((await show('r.md')).stdout).not.toContain('\x1b[31m');
  expect(await show('p.gif')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('p.gif is not a text'),
  });
});

test('an answer brings files, and the next state has their paths', async () => {
  const project = await asked();
  mkdirSync(project.path('mine/b'), { recursive: true });
  writeFileSync(project.path('mine/a b.txt'), 'one\n');
  writeFileSync(project.path('mine/b/a b.txt'), 'two\n');
  chmodSync(project.path('mine/a b.txt'), 0o755);
  const files = ['--file', 'mine/a b.txt', '--file', 'mine/b/a b.txt'];
  expect(await command(project, ['answer', 'q', 'yes', ...files])).toMatchObject({ code: 0 });
  expect(await command(project, ['answer', 'q', 'no', ...files])).toMatchObject({ code: 1 });
  expect(await command(project, ['resume', 'q'])).toMatchObject({ code: 0, stdout: 'yes\n' });
  const [first = '', second = '', ...content] = received(project);
  expect([first, second].map((path) => path.split('/').slice(-2))).toEqual([
    ['answer_files', 'a b.txt'],
    ['answer_files', 'a b-2.txt'],
  ]);
  expect(content).toEqual(['one', 'two', '']);
  expect(lstatSync(first).mode & 0o777).toBe(0o600);
  expect((await command(project, ['show', 'q', '--files'])).stdout).toMatch(/a b-2\.txt.*sent to/);
  const kept = project.path('.raymond/runs/q/kept');
  expect(lstatSync(kept).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(kept)) {
    expect(name).toMatch(/^[0-9a-f]{64}$/);
    expect(lstatSync(join(kept, name)).mode & 0o777).toBe(0o600);
  }
  expect(await command(project, ['prune', 'q', '--yes'])).toMatchObject({ code: 0 });
  expect(existsSync(kept)).toBe(false);
  expect(existsSync(first)).toBe(false);
});

test('a question can say which files may come', async () => {
  const project = newProject({
    'form/START.sh': `echo '<ask next="NEXT" accept="pdf,txt">The form?</ask>'`,
    'form/NEXT.sh': NEXT,
    ...{ 'form.exe': 'x', plain: 'x', 'form.TXT': 'the form' },
  });
  await command(project, ['form', '--workflow-id', 'q']);
  expect((await command(project, ['show', 'q'])).stdout).toContain(
    'An answer may bring files: pdf, txt',
  );
  for (const name of ['form.exe', 'plain'])
    expect((await command(project, ['answer', 'q', '--file', name])).stderr).toContain(
      `The question takes only files that end in pdf, txt, and ${name} does not.`,
    );
  expect(await command(project, ['answer', 'q', '--file', 'form.TXT'])).toMatchObject({ code: 0 });
});

test('a file alone is an answer', async () => {
  const project = await asked({ 'plan.md': 'the plan' });
  expect(await command(project, ['answer', 'q', '--file', 'plan.md'])).toMatchObject({ code: 0 });
  expect(await command(project, ['resume', 'q'])).toMatchObject({ code: 0, stdout: '\n' });
  expect(received(project)).toContain('the plan');
});

test('what cannot be sent is refused, and the question stays open', async () => {
  const project = await asked({ 'small.md': 'x' });
  execFileSync('mkfifo', [project.path('pipe')]);
  writeFileSync(project.path('huge.bin'), '');
  truncateSync(project.path('huge.bin'), 5_000_000_000);
  symlinkSync('nothing', project.path('broken'));
  const send = (...paths: string[]) =>
    command(project, ['answer', 'q', 'yes', ...paths.flatMap((path) => ['--file', path])]);
  for (const path of ['pipe', '/dev/zero', '.', 'broken', 'none.md'])
    expect(await send(path)).toMatchObject({
      code: 64,
      stderr: expect.stringContaining(`${path} cannot be sent`),
    });
  expect((await send('small.md', 'huge.bin')).stderr).toContain('more than 20 MiB together');
  expect((await send(...Array.from({ length: 21 }, () => 'small.md'))).stderr).toContain(
    'There are 21 files, and at most 20',
  );
  expect(await command(project, ['answer', '--code', 'X', '--file', 'small.md'])).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('A code carries a text and no files.'),
  });
  expect(count(project, 'q', 'agent-answered')).toBe(0);
  expect(await send('small.md')).toMatchObject({ code: 0 });
});

test('the limit is a setting of the run', async () => {
  const project = newProject({ ...FLOWS, 'two.bin': 'x'.repeat(1_500_000) });
  await command(project, ['shows', '--workflow-id', 'q', '--max-files-mib', '1']);
  const send = () => command(project, ['answer', 'q', '--file', 'two.bin']);
  expect((await send()).stderr).toContain('The files have more than 1 MiB together');
  await command(project, ['resume', 'q', '--max-files-mib', '2']);
  expect(await send()).toMatchObject({ code: 0 });
});

test('a script that names a missing file fails with the remedy', async () => {
  const project = newProject(FLOWS);
  const { code, stderr } = await command(project, ['bad', '--workflow-id', 'q']);
  expect(code).toBe(1);
  expect(stderr).toContain('cannot take the file "none.md": there is no such file');
  expect(stderr).toContain("Paths are relative to the agent's directory.");
});

test('people sign what they have seen, and no files', async () => {
  const project = newProject(FLOWS);
  mkdirSync(join(project.userConfig, 'approvers'), { recursive: true, mode: 0o700 });
  writeFileSync(join(project.userConfig, 'approvers/release'), '', { mode: 0o600 });
  await command(project, ['signs', '--workflow-id', 'q']);
  const { stdout } = await command(project, ['answer', 'q', 'yes', '--to-sign']);
  expect(stdout).toMatch(/^file "report\.md" [0-9a-f]{64}$/m);
  const signing = ['answer', 'q', 'yes', '--sign', 'key', '--file', 'report.md'];
  expect(await command(project, signing)).toMatchObject({ code: 64 });
  const library = { cwd: project.folder };
  await expect(raymond.answer('q', 'yes', { ...library, files: ['report.md'] })).rejects.toThrow();
});

test('a rewind takes files back, and the answer to the new question brings its own', async () => {
  const project = await asked({ 'a.md': 'first', 'b.md': 'second' });
  await command(project, ['answer', 'q', 'yes', '--file', 'a.md']);
  await command(project, ['resume', 'q']);
  expect(received(project)).toContain('first');
  // The step that received the answer receives it again.
  await command(project, ['rewind', 'q', '--to', 'main:2', '--yes', '--no-files']);
  await command(project, ['resume', 'q']);
  expect(received(project)).toContain('first');
  await command(project, ['rewind', 'q', '--to', 'main:1', '--yes', '--no-files']);
  expect(await command(project, ['resume', 'q'])).toMatchObject({ code: 2 });
  await command(project, ['answer', 'q', 'yes', '--file', 'b.md']);
  await command(project, ['resume', 'q']);
  const [path = ''] = received(project);
  expect(received(project)).not.toContain('first');
  expect(readdirSync(join(path, '..'))).toEqual(['b.md']);
});

test('content that was changed in the store is not used', async () => {
  const project = await asked({ 'a.md': 'first' });
  await command(project, ['answer', 'q', 'yes', '--file', 'a.md']);
  const kept = project.path('.raymond/runs/q/kept');
  for (const name of readdirSync(kept)) writeFileSync(join(kept, name), 'forged');
  expect((await command(project, ['show', 'q', '--file', 'report.md'])).stderr).toContain(
    'The content of report.md in q is gone, or is not what it was.',
  );
  const resumed = await command(project, ['resume', 'q']);
  expect(resumed.stderr).toContain('a.md, which came with the answer, is no longer kept');
  expect(existsSync(project.path('got'))).toBe(false);
});

test('the library asks, answers with files, and reads them', async () => {
  const project = await asked({ 'a.md': 'first' });
  const place = { cwd: project.folder };
  for (const name of ['XDG_CONFIG_HOME', 'XDG_STATE_HOME'])
    vi.stubEnv(name, project.environment[name]);
  const [report] = await raymond.files('q', place);
  expect(Buffer.from((await report?.content()) ?? []).toString()).toBe('All is well.\n');
  await raymond.answer('q', 'yes', { ...place, files: ['a.md'] });
  const run = raymond.resume('q', place);
  expect((await run.ended).result).toBe('yes');
  expect((await raymond.files('q', place)).map(({ name, of }) => [name, of])).toEqual([
    ['report.md', 'question'],
    ['out/plot.gif', 'question'],
    ['a.md', 'answer'],
  ]);
});

test('a question and its answer survive kill -9 once each, with their files', async () => {
  const project = newProject({ ...FLOWS, 'a.md': 'first' });
  const life = project.start(['stays', '--workflow-id', 'q']);
  await hasAsked(project, 'q');
  life.child.kill('SIGKILL');
  await life.ended;
  await command(project, ['answer', 'q', 'yes', '--file', 'a.md']);
  const next = project.start(['resume', 'q']);
  await eventually('the answer is used', () => count(project, 'q', 'agent-answered') === 1);
  next.child.kill('SIGKILL');
  await next.ended;
  expect(await command(project, ['resume', 'q'])).toMatchObject({ code: 0, stdout: 'yes\n' });
  expect(received(project)).toContain('first');
  expect(count(project, 'q', 'agent-asked')).toBe(1);
  expect(count(project, 'q', 'agent-answered')).toBe(1);
});
