// A Raymond process whose run was taken over gives up its processes without ending them.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isAlive, type LaunchedProcess } from '../../src/execute/process/index.ts';
import { plain, steps, until } from './fixtures/steps.ts';

const { path, folder, own, processes, adopt } = steps();

/** Reports that it has begun, and runs until the test ends it. */
function waiting(here: string, first = '') {
  const script = `${first} echo >"$1.begun"; until [ -e "$1.go" ]; do sleep 0.05; done; exit 7`;
  const args = ['-c', script, 'bash', here];
  return { ...plain, folder: here, command: '/bin/bash', args, cwd: path('.') };
}

function isRunning({ identity }: LaunchedProcess): boolean {
  return identity !== undefined && isAlive(identity);
}

test('a process that was left continues, cannot be ended here, and can be adopted', async () => {
  const here = folder();
  const ours = processes();
  const launched = ours.launch(waiting(here));
  const adopted = own(adopt(here) ?? launched);
  await until(() => existsSync(`${here}.begun`));

  ours.leave();
  expect(await launched.ended).toEqual({ kind: 'left' });
  expect(await launched.stop(0)).toEqual([]);
  expect(await launched.endLeftovers(0)).toEqual([]);
  expect(await ours.endStrays(0)).toEqual([]);
  expect(isRunning(adopted)).toBe(true);

  writeFileSync(`${here}.go`, '');
  expect(await adopted.ended).toEqual({ kind: 'exited', code: 7 });
});

test('an adopted process can be left in the same way', async () => {
  const here = folder();
  const first = own(processes().launch(waiting(here)));
  const second = processes();
  const adopted = adopt(here, second);
  second.leave();
  expect(await adopted?.ended).toEqual({ kind: 'left' });
  expect(isRunning(first)).toBe(true);
});

test('an ending that has begun sends no further signal', async () => {
  const here = folder();
  const ours = processes();
  const launched = ours.launch(waiting(here, `trap 'echo >"$1.heard"' INT;`));
  const adopted = own(adopt(here) ?? launched);
  await until(() => existsSync(`${here}.begun`));
  const ending = launched.stop(5000);
  await until(() => existsSync(`${here}.heard`));
  ours.leave();
  expect(await ending).toEqual([]);
  expect(isRunning(adopted)).toBe(true);
});

test.runIf(process.platform === 'linux')(
  'a process whose record was removed is noticed, so that its command does not begin twice',
  async () => {
    const here = folder();
    own(processes().launch(waiting(here)));
    await until(() => existsSync(`${here}.begun`));
    rmSync(join(here, 'process.json'));
    expect(processes().adopt(here)).toBe('foreign');
  },
);

test('launch and adopt refuse to work after leave', () => {
  const ours = processes();
  const here = folder();
  ours.leave();
  expect(() => ours.launch(waiting(here))).toThrow('belong to another Raymond');
  expect(() => ours.adopt(here)).toThrow('belong to another Raymond');
  expect(existsSync(here)).toBe(false);
});
