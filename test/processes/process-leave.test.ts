// A Raymond whose run was taken over by another one: it lets go of what runs, without ending it.
import { existsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isAlive, type LaunchedProcess } from '../../src/execute/process/index.ts';
import { plain, steps, until } from './fixtures/steps.ts';

const { path, folder, own, processes, adopt } = steps();

/** Says that it has begun, and stays until the test lets it go. */
function waiting(here: string, first = '') {
  const script = `${first} echo >"$1.begun"; until [ -e "$1.go" ]; do sleep 0.05; done; exit 7`;
  const args = ['-c', script, 'bash', here];
  return { ...plain, folder: here, command: '/bin/bash', args, cwd: path('.') };
}

function isRunning({ identity }: LaunchedProcess): boolean {
  return identity !== undefined && isAlive(identity);
}

test('what is left runs on, cannot be ended here, and is followed by whoever adopts it', async () => {
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

test('what was adopted is left in the same way', async () => {
  const here = folder();
  const first = own(processes().launch(waiting(here)));
  const second = processes();
  const adopted = second.adopt(here);
  second.leave();
  expect(await adopted?.ended).toEqual({ kind: 'left' });
  expect(isRunning(first)).toBe(true);
});

test('an end that is under way stops before its next signal', async () => {
  const here = folder();
  const ours = processes();
  const launched = ours.launch(waiting(here, `trap 'echo >"$1.heard"' INT;`));
  const adopted = own(adopt(here) ?? launched);
  await until(() => existsSync(`${here}.begun`));
  const ending = launched.stop(1000);
  await until(() => existsSync(`${here}.heard`));
  ours.leave();
  expect(await ending).toEqual([]);
  expect(isRunning(adopted)).toBe(true);
});

test('nothing is launched or adopted after that', () => {
  const ours = processes();
  const here = folder();
  ours.leave();
  expect(() => ours.launch(waiting(here))).toThrow('belong to another Raymond');
  expect(() => ours.adopt(here)).toThrow('belong to another Raymond');
  expect(existsSync(here)).toBe(false);
});
