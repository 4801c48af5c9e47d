import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { outputOf } from '../../src/execute/process/index.ts';
import { newProject } from '../new-project.ts';
import { anyAlive, plain, steps, text, until } from './fixtures/steps.ts';

const { path, identities } = steps();

const ask = (script: string, timeoutMs = 30_000) =>
  outputOf({
    command: '/bin/bash',
    args: ['-c', script],
    env: { ...plain.env, JOBS: path('jobs') },
    timeoutMs,
  });

afterEach(() => {
  vi.unstubAllEnvs();
});

test('returns the output of a program, whatever its exit code', async () => {
  expect(await ask('echo 1.2.3; exit 3')).toBe('1.2.3\n');
  expect(await outputOf({ ...plain, command: '/no/such/program', timeoutMs: 1000 })).toBe('');
});

test('a program that hangs is ended with all its descendants, and its output is ignored', async () => {
  vi.stubEnv('TMPDIR', path('.'));
  const answer = ask(
    `echo said; trap '' INT TERM; sleep 300 & echo $! >>"$JOBS"; "$NODE" "$DAEMON" "$JOBS"; wait`,
    2000,
  );
  const jobs = await identities('jobs', 2);
  expect(await answer).toBe('');
  expect(anyAlive(jobs)).toBe(false);
  expect(readdirSync(path('.'))).toEqual(['jobs']);
});

test('a job that the program leaves running is ended', async () => {
  const answer = ask(
    `sleep 300 & echo $! >>"$JOBS"; echo said; until [ -e "$JOBS-seen" ]; do :; done`,
  );
  const jobs = await identities('jobs', 1);
  writeFileSync(path('jobs-seen'), '');
  expect(await answer).toBe('said\n');
  await until(() => text(path('jobs')) !== '');
  expect(anyAlive(jobs)).toBe(false);
});

test('interrupting doctor ends an agent that hangs', async () => {
  const agent = '#!/bin/bash\nsleep 300 & echo $! >>"$JOBS"; wait';
  const project = newProject({ agent });
  chmodSync(project.path('agent'), 0o755);
  const env = { RAYMOND_CLAUDE: project.path('agent'), JOBS: path('jobs') };
  const doctor = project.start(['doctor'], { env });
  // doctor runs the agent twice at the same time.
  const jobs = await identities('jobs', 2);
  doctor.child.kill('SIGINT');
  expect(await doctor.ended).toMatchObject({ signal: 'SIGINT' });
  expect(anyAlive(jobs)).toBe(false);
});
