/** Nobody's work is touched unnamed: a rewind, a prune and a second run say first what they touch. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { atTerminal } from '../at-terminal.ts';
import { command } from '../command.ts';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const QUICK = { 'w/START.sh': `echo '<result>done</result>'` };

function repository(files: Readonly<Record<string, string>>): Project {
  const project = newProject(files);
  const git = (...args: string[]) => execFileSync('git', ['-C', project.folder, ...args]);
  git('init', '-q');
  git('add', '--all');
  git('-c', 'user.name=x', '-c', 'user.email=x@example.org', 'commit', '-qm', 'first');
  return project;
}

describe('rewind', () => {
  const flow = {
    'w/START.sh': `echo 1 >a.txt; echo '<goto>END</goto>'`,
    'w/END.sh': `echo 2 >a.txt; echo '<result>done</result>'`,
    'notes.txt': 'before\n',
    'same.txt': 'same\n',
  };
  const rewound = async () => {
    const project = repository(flow);
    await command(project, ['w', '--workflow-id', 'r', '--checkpoints', 'steps', '--quiet']);
    project.write('notes.txt', 'mine\n');
    project.write('new \x1b[2J.txt', 'mine, too\n');
    return project;
  };

  test('lists the files that the person has changed, and asks', async () => {
    const project = await rewound();
    const terminal = atTerminal(project, ['rewind', 'r', '--to', 'main:2']);
    await eventually('it asks', () => terminal.screen().includes('Rewind? [yes/no]'));
    const shown = terminal.screen();
    expect(shown).toContain(`2 files of ${project.folder} changed after the last record`);
    expect(shown).toContain('    notes.txt\r\n');
    expect(shown).toContain('    new \\x1b[2J.txt\r\n');
    expect(shown).not.toContain('same.txt');
    expect(shown).not.toContain('    a.txt');
    terminal.type('no\r');
    expect(await terminal.ended).not.toBe(0);
    expect(project.read('notes.txt')).toBe('mine\n');
  });

  test('sets them aside, and --undo brings them back', async () => {
    const project = await rewound();
    const { stderr } = await command(project, ['rewind', 'r', '--to', 'main:2', '--yes']);
    expect(stderr).toContain('    notes.txt\n');
    expect(project.read('notes.txt')).toBe('before\n');
    project.write('same.txt', 'changed between\n');
    const undone = await command(project, ['rewind', 'r', '--undo', '--yes']);
    expect(undone.stderr).toContain('    same.txt\n');
    expect(undone.stderr).not.toContain('    notes.txt\n');
    expect(project.read('notes.txt')).toBe('mine\n');
  });

  test('without a terminal it refuses, and changes nothing', async () => {
    const project = await rewound();
    const { code, stderr } = await command(project, ['rewind', 'r', '--to', 'main:2']);
    expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining('add --yes') });
    expect(project.read('notes.txt')).toBe('mine\n');
  });
});

describe('prune', () => {
  const pruned = async () => {
    const project = newProject(QUICK);
    for (const id of ['one', 'two'])
      await command(project, ['w', '--workflow-id', id, '--input', `for ${id}`, '--quiet']);
    return project;
  };
  const ids = async (project: Project) =>
    (await command(project, ['list', '--json'])).stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).id);

  test.each([
    ['no', ['one', 'two']],
    ['yes', []],
  ])('names the runs, asks, and takes %s', async (word, left) => {
    const project = await pruned();
    const terminal = atTerminal(project, ['prune']);
    await eventually('it asks', () => terminal.screen().includes('Remove them? [yes/no]'));
    expect(terminal.screen()).toMatch(
      /2 runs will be removed:\r\n {2}one {2}completed, .* for one/,
    );
    terminal.type(`${word}\r`);
    await terminal.ended;
    expect(await ids(project)).toEqual(left);
  });

  test('without a terminal it refuses and names the remedy, unless the runs are named', async () => {
    const project = await pruned();
    expect(await command(project, ['prune'])).toMatchObject({
      code: 64,
      stderr:
        'raymond: Raymond cannot ask here whether to remove 2 runs.\n' +
        '         To see them, add --dry-run. To remove them, add --yes, or name the runs.\n',
    });
    expect(await ids(project)).toEqual(['one', 'two']);
    expect(await command(project, ['prune', 'one'])).toMatchObject({ code: 0 });
    expect(await command(project, ['prune', '--yes'])).toMatchObject({ code: 0 });
    expect(await ids(project)).toEqual([]);
  });
});

test('a second run in the same directory is announced, with the way to its own files', async () => {
  const project = newProject({
    ...QUICK,
    'sub/w/START.sh': `echo '<result>done</result>'`,
    'slow/START.sh': 'while [ ! -e go ]; do sleep 0.1; done; echo "<result>done</result>"',
  });
  const first = project.start(['slow', '--workflow-id', 'first']);
  await eventually('it works', () => first.stderr().includes('starts'));
  const second = await command(project, ['w']);
  expect(second.stderr).toContain(
    'first also works in this directory, on the same files. To give a run its own: git worktree add ../NAME && cd ../NAME\n',
  );
  const elsewhere = await command(project, ['w'], { cwd: project.path('sub') });
  expect(elsewhere).toMatchObject({ code: 0, stderr: expect.not.stringContaining('also works') });
  const rehearsed = await command(project, ['w', '--rehearse']);
  expect(rehearsed.stderr).not.toContain('also works');
  project.write('go', '');
  await first.ended;
  expect((await command(project, ['w'])).stderr).not.toContain('also works');
});
