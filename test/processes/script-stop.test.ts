import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readRecord } from '../../src/execute/process/record.ts';
import { isAlive } from '../../src/execute/process.ts';
import { scriptExecutor } from '../../src/execute/script.ts';
import { stateNameSchema } from '../../src/model/state-name.ts';
import { until } from './fixtures/steps.ts';

test('a stop while a finished step is tidied up does not lose what it said', async () => {
  const root = mkdtempSync(join(tmpdir(), 'raymond-stop-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const file = join(root, 'START.sh');
  // The job that it leaves is deaf, so that ending it takes a while.
  writeFileSync(file, `(trap '' TERM; sleep 100) & echo '<result>paid for</result>'`);
  const folder = join(root, 'step');
  const step = scriptExecutor().start(
    {
      kind: 'script',
      run: 'r',
      agent: 'main',
      number: 1,
      attempt: 1,
      state: stateNameSchema.parse('START.sh'),
      cwd: root,
      folder,
      environment: {},
      idleTimeoutMs: 0,
      file,
      interpreter: 'bash',
      input: undefined,
    },
    () => {},
  );
  await until(() => {
    const identity = readRecord(folder)?.identity;
    return identity !== undefined && !isAlive(identity);
  });
  // The end itself is known one turn of the event loop later.
  await new Promise((resolve) => setImmediate(resolve));
  step.stop();
  const outcome = await step.outcome;
  expect(outcome).toMatchObject({ kind: 'answered' });
});
