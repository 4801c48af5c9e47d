import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { asItIs, keyHider, outOfSight } from './out-of-sight.ts';

const onLinux = test.runIf(process.platform === 'linux');

function userFolder() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `raymond it's "hidden" `)));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const task = join(folder, 'tasks/a b');
  mkdirSync(task, { recursive: true });
  writeFileSync(join(folder, 'key'), 'secret');
  return { folder, task, sight: { hides: [folder], opens: [task, '/elsewhere'], cwd: task } };
}

onLinux('a program sees nothing of a hidden folder but what is open', () => {
  const { folder, task, sight } = userFolder();
  const script = 'ls -A "$1"; cat ../../key "$1/key"; touch made; touch "$1/new"; pwd; exit 0';
  const { command, args } = outOfSight(
    { command: 'sh', args: ['-c', script, 'sh', folder] },
    sight,
  );
  const text = execFileSync(command, args, { cwd: task, encoding: 'utf8', stdio: 'pipe' });
  expect(text).toBe(`tasks\n${task}\n`);
  expect(existsSync(join(task, 'made'))).toBe(true);
  expect(existsSync(join(folder, 'new'))).toBe(false);
});

onLinux('a machine that cannot hide a folder is named once', async () => {
  const { sight } = userFolder();
  const told: string[] = [];
  const hide = keyHider({ PATH: '/nowhere' });
  const both = [hide(sight, (text) => told.push(text)), hide(sight, (text) => told.push(text))];
  expect(await Promise.all(both)).toEqual([asItIs, asItIs]);
  expect(told).toEqual([expect.stringContaining('can read your key')]);
});

onLinux('a step in a folder that does not exist says nothing about later steps', async () => {
  const { folder, task, sight } = userFolder();
  const hide = keyHider(process.env);
  const told: string[] = [];
  await hide({ ...sight, cwd: '/nowhere' }, (text) => told.push(text));
  const program = { command: 'sh', args: ['-c', 'cat "$1/key" || echo hidden', 'sh', folder] };
  const { command, args } = (await hide(sight, (text) => told.push(text)))(program);
  expect(execFileSync(command, args, { cwd: task, encoding: 'utf8', stdio: 'pipe' })).toBe(
    'hidden\n',
  );
  expect(told).toEqual([]);
});
