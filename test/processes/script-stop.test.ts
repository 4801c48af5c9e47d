import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RunProcesses } from '../../src/execute/process/index.ts';
import { scriptExecutor } from '../../src/execute/script.ts';
import { stateNameSchema } from '../../src/model/state-name.ts';
import { until } from './fixtures/steps.ts';

test('a stop during the clean-up of a finished step does not lose its answer', async () => {
  const root = mkdtempSync(join(tmpdir(), 'raymond-stop-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const file = join(root, 'START.sh');
  // The job that the script leaves ignores SIGTERM, and records that it received it.
  const job = `(trap 'echo >asked' TERM; while :; do sleep 0.05; done) &`;
  writeFileSync(file, `${job}\necho '<result>paid for</result>'`);
  const step = scriptExecutor(new RunProcesses(root)).start(
    {
      kind: 'script',
      workflow: '/workflow',
      run: 'r',
      agent: 'main',
      number: 1,
      attempt: 1,
      state: stateNameSchema.parse('START.sh'),
      cwd: root,
      folder: join(root, 'step'),
      environment: {},
      idleTimeoutMs: 0,
      file,
      sha256: undefined,
      interpreter: 'bash',
      input: undefined,
    },
    () => {},
  );
  await until(() => existsSync(join(root, 'asked')));
  step.stop();
  const outcome = await step.outcome;
  expect(outcome).toMatchObject({ kind: 'answered' });
});
