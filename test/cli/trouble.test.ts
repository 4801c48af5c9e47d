import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  truncateSync,
} from 'node:fs';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { stderr } from '../../src/cli/terminal/terminal.ts';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import type { Project } from '../raymond.ts';

const COUNT = {
  'count/START.sh': `
n=\${RAYMOND_RESULT:-1}
echo "$n" >>steps
if [ "$n" = 4 ] && [ ! -e cured ]; then exit 1; fi
if [ "$n" -lt 6 ]; then echo "<goto input=\\"$((n + 1))\\">START</goto>"; else echo '<result>six</result>'; fi`,
};
const JOURNAL = '.raymond/state/count.jsonl';

async function counted(): Promise<Project> {
  const project = newProject(COUNT);
  expect(await command(project, ['count', '--workflow-id', 'count'])).toMatchObject({ code: 1 });
  project.write('cured', '');
  return project;
}

describe('a damaged journal', () => {
  test('is reported with its line and kept; --salvage continues from the last good line', async () => {
    const project = await counted();
    const lines = project.lines(JOURNAL);
    const damaged = lines.map((line, i) => (i === 5 ? `${line.slice(0, 20)}\0\0` : line));
    project.write(JOURNAL, `${damaged.join('\n')}\n`);
    const text = project.read(JOURNAL);

    for (const name of ['resume', 'show', 'logs']) {
      const ended = await command(project, [name, 'count']);
      expect(ended.code, name).toBe(1);
      expect(ended.stderr, name).toContain(`Line 6 of the journal ${project.path(JOURNAL)}`);
      expect(ended.stderr, name).toContain('raymond resume count --salvage');
    }
    expect((await command(project, ['list'])).stdout).toMatch(/^count +damaged/m);
    expect(project.read(JOURNAL)).toBe(text);

    const salvaged = await command(project, ['resume', 'count', '--salvage']);
    expect(salvaged).toMatchObject({ code: 0, stdout: 'six\n' });
    expect(project.read(`${JOURNAL}.broken-1`)).toBe(text);
    expect(project.journal('count').at(-1)).toMatchObject({ outcome: 'completed' });
  });

  test('with a torn last line continues without that line', async () => {
    const project = await counted();
    appendFileSync(project.path(JOURNAL), (project.lines(JOURNAL).at(-1) ?? '').slice(0, -7));
    expect(await command(project, ['resume', 'count'])).toMatchObject({ code: 0, stdout: 'six\n' });
    expect(project.lines('steps')).toEqual(['1', '2', '3', '4', '4', '5', '6']);
  });

  test('whose last lines are missing is reported, and can be salvaged', async () => {
    const project = await counted();
    const events = project.journal('count');
    const last = project.lines(JOURNAL).at(-1) ?? '';
    truncateSync(project.path(JOURNAL), project.read(JOURNAL).length - last.length - 1);
    for (const name of ['resume', 'show', 'logs']) {
      const ended = await command(project, [name, 'count']);
      expect(ended.code, name).toBe(1);
      expect(ended.stderr, name).toContain(`has already written event ${events.length}`);
      expect(ended.stderr, name).toContain('raymond resume count --salvage');
    }
    expect(await command(project, ['resume', 'count', '--salvage'])).toMatchObject({ code: 1 });
    expect(await command(project, ['resume', 'count'])).toMatchObject({ code: 0, stdout: 'six\n' });
  });

  test('that was emptied later is not reported as a run that never began', async () => {
    const project = await counted();
    truncateSync(project.path(JOURNAL), 0);
    for (const args of [
      ['resume', 'count'],
      ['resume', 'count', '--salvage'],
      ['show', 'count'],
    ]) {
      const ended = await command(project, args);
      expect(ended, args.join(' ')).toMatchObject({ code: 1 });
      expect(ended.stderr).toContain('has lost the content of its journal');
      expect(ended.stderr).not.toContain('--salvage');
    }
    const again = await command(project, ['count', '--workflow-id', 'count']);
    expect(again.stderr).toContain('The run count already exists');
  });

  test('a state file that is lost or damaged does not matter', async () => {
    const project = await counted();
    project.write('.raymond/state/count.json', '{');
    expect(await command(project, ['resume', 'count'])).toMatchObject({ code: 0, stdout: 'six\n' });
    expect(JSON.parse(project.read('.raymond/state/count.json'))).toMatchObject({ result: 'six' });
  });
});

test('a .raymond that cannot be written', async ({ annotate }) => {
  const project = newProject(COUNT);
  const folder = project.path('.raymond');
  mkdirSync(folder);
  if (!makeReadOnly(folder)) {
    await annotate('Nothing is read-only for this user here: shown with an injected disk only.');
    return;
  }
  const ended = await command(project, ['count']);
  expect(ended).toMatchObject({ code: 1, stdout: '' });
  expect(ended.stderr).toMatch(
    /^raymond: Raymond cannot save runs in .*\.raymond: (the file system is read-only|permission denied)\.\n +(Make the file system writable|Give your user permission)/m,
  );
  expect(readdirSync(folder)).toEqual([]);
  expect(project.lines('steps')).toEqual([]);
});

/** The mode of a folder does not restrict root. */
function makeReadOnly(folder: string): boolean {
  if (process.getuid?.() !== 0) {
    chmodSync(folder, 0o500);
    onTestFinished(() => chmodSync(folder, 0o700));
    return true;
  }
  onTestFinished(() => void spawnSync('umount', ['-l', folder]));
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'ro,mode=0700', 'tmpfs', folder]).status === 0;
}

test('a journal under the name of another run is refused', async () => {
  const project = await counted();
  project.write('.raymond/state/mine.jsonl', project.read(JOURNAL));
  for (const name of ['show', 'logs', 'resume']) {
    expect(await command(project, [name, 'mine'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('belongs to the run "count"'),
    });
  }
  expect((await command(project, ['list'])).stdout).toMatch(/^mine +damaged/m);
});

test.runIf(existsSync('/dev/full'))('a log file that cannot be written is reported', async () => {
  const project = newProject({ 'flow/START.sh': `echo '<result>fine</result>'` });
  const ended = await command(project, ['flow', '--log-file', '/dev/full']);
  expect(ended).toMatchObject({ code: 0, stdout: 'fine\n' });
  expect(ended.stderr).toContain(
    'The log file /dev/full receives nothing more: there is no space left.',
  );
});

test('a .raymond that is a file', async () => {
  const project = newProject({ ...COUNT, '.raymond': '' });
  expect(await command(project, ['count'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is a file, but Raymond needs a folder'),
  });
});

describe('colour', () => {
  const { isTTY } = process.stderr;
  afterEach(() => {
    process.stderr.isTTY = isTTY;
    vi.unstubAllEnvs();
  });

  test.each([
    ['at a terminal', true, {}, true],
    ['into a pipe', false, {}, false],
    ['with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['at a dumb terminal', true, { TERM: 'dumb' }, false],
  ])('%s', (_, atTerminal, environment, expected) => {
    const plain = { NO_COLOR: '', TERM: 'xterm' };
    for (const [name, value] of Object.entries({ ...plain, ...environment }))
      vi.stubEnv(name, value);
    process.stderr.isTTY = atTerminal;
    expect(stderr.hasColor()).toBe(expected);
  });
});
