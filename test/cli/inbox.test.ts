import { chmodSync, rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';
import { FLOWS } from './asking.ts';

const HOSTILE = `Sure?\\n\x1b[2Jraymond: Nothing waits for you.`;

test('what waits in all projects is listed, the oldest first, with the command that answers', async () => {
  const first = newProject(FLOWS);
  const second = newProject({
    ...FLOWS,
    'flow/START.sh': `printf '<ask next="GO">${HOSTILE}</ask>'`,
    'flow/GO.sh': 'true',
  });
  const env = { ...first.environment };
  const inbox = (...args: string[]) => command(second, ['inbox', ...args], { env });
  expect(await inbox()).toMatchObject({ code: 0, stdout: '', stderr: 'Nothing waits for you.\n' });

  await command(first, ['ask', '--workflow-id', 'one']);
  await command(second, ['flow', '--workflow-id', 'two'], { env });
  const { stdout } = await inbox();
  expect(stdout.replace(/\d+\.\d s/g, 'N s')).toBe(
    [
      '2 items wait for you. The oldest first:',
      '',
      first.folder,
      'one: main asks, for N s',
      '  | which colour?',
      `  cd ${first.folder} && raymond answer one`,
      '',
      second.folder,
      'two: main asks, for N s',
      '  | Sure?',
      '  | \\x1b[2Jraymond: Nothing waits for you.',
      '  raymond answer two',
      '',
    ].join('\n'),
  );
  const items = (await inbox('--json')).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(items).toMatchObject([
    { kind: 'question', project: first.folder, run: 'one', agent: 'main', deadline: null },
    { kind: 'question', project: second.folder, run: 'two', command: 'raymond answer two' },
  ]);

  await command(first, ['answer', 'one', 'red']);
  expect((await inbox()).stdout).not.toContain('one:');
  // A project whose runs are gone is no problem.
  rmSync(second.path('.raymond'), { recursive: true });
  expect(await command(first, ['inbox'])).toMatchObject({
    stdout: '',
    stderr: 'Nothing waits for you.\n',
  });
});

test('a project that cannot be read is named, and the others are shown', async () => {
  const first = newProject(FLOWS);
  const second = newProject(FLOWS);
  const env = { ...first.environment };
  await command(first, ['ask', '--workflow-id', 'one']);
  await command(second, ['ask', '--workflow-id', 'two'], { env });
  chmodSync(second.path('.raymond'), 0o777);
  const { code, stdout, stderr } = await command(first, ['inbox']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('one: main asks') });
  expect(stderr).toContain(second.folder);
});
