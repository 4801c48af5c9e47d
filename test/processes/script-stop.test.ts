import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RunProcesses } from '../../src/execute/process/index.ts';
import { scriptExecutor } from '../../src/execute/scripts/script.ts';
import { recordCut } from '../../src/execute/scripts/step-cut.ts';
import { stateNameSchema } from '../../src/model/state-name.ts';
import type { ScriptStep } from '../../src/ports.ts';
import { STEP_KEY } from '../step-key.ts';
import { until } from './fixtures/steps.ts';

test('a stop during the clean-up of a finished step does not lose its answer', async () => {
  // The job that the script leaves ignores SIGTERM, and records that it received it.
  const job = `(trap 'echo >asked' TERM; echo >ready; while :; do sleep 0.05; done) &`;
  const ready = 'until [ -e ready ]; do sleep 0.01; done';
  const step = scriptStep(`${job}\n${ready}\necho '<result>paid for</result>'`);
  const running = executorFor(step).start(step, () => {});
  await until(() => existsSync(join(step.cwd, 'asked')));
  running.stop();
  expect(await running.outcome).toMatchObject({ kind: 'answered' });
});

test.each([
  ['was stopped', 0, 'echo >begun; sleep 1000', { kind: 'interrupted' }],
  // Long enough for a busy machine to begin the script.
  ['was silent', 3000, 'echo >begun; sleep 1000', { failure: { kind: 'idle' } }],
  ['failed by itself', 0, 'echo >begun; exit 130', { failure: { kind: 'script-failed' } }],
])('a step that %s is the same for the next process', async (_, idleTimeoutMs, text, expected) => {
  const step = { ...scriptStep(text), idleTimeoutMs };
  const running = executorFor(step).start(step, () => {});
  await until(() => existsSync(join(step.cwd, 'begun')));
  if ('kind' in expected) running.stop();
  expect(await running.outcome).toMatchObject(expected);
  const adopted = executorFor(step).adopt(step, () => {});
  expect(await adopted.outcome).toMatchObject(expected);
});

test('a script that survived a stop continues as if there had been none', async () => {
  const step = scriptStep('echo >begun; until [ -e finish ]; do sleep 0.05; done; exit 3');
  const running = executorFor(step).start(step, () => {});
  await until(() => existsSync(join(step.cwd, 'begun')));
  // A process that was killed right after it had recorded the stop.
  recordCut(processesFor(step).seals, step.folder, 'stopped');
  const adopted = executorFor(step).adopt(step, () => {});
  writeFileSync(join(step.cwd, 'finish'), '');
  expect(await adopted.outcome).toMatchObject({ failure: { kind: 'script-failed' } });
  await running.outcome;
});

const processesFor = ({ cwd }: ScriptStep) => new RunProcesses(cwd, { key: STEP_KEY });
const executorFor = (step: ScriptStep) => scriptExecutor(processesFor(step));

function scriptStep(text: string): ScriptStep {
  const root = mkdtempSync(join(tmpdir(), 'raymond-stop-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const file = join(root, 'START.sh');
  writeFileSync(file, text);
  return {
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
  };
}
