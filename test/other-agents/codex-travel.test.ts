// Sessions of the real codex on two machines: each has its own home, directory and folders.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { codexExecutor } from '../../src/execute/codex/codex.ts';
import { RunProcesses } from '../../src/execute/process/index.ts';
import { travellingExecutors } from '../../src/execute/turn/travelling.ts';
import { packFiles } from '../../src/files/packed-files.ts';
import type { SessionUse } from '../../src/model/event.ts';
import { SessionsInMemory } from '../carried-sessions.ts';
import { place, promptStep, protecting } from '../contracts/steps.ts';
import { STEP_KEY } from '../step-key.ts';
import { codexBinary, codexSandbox } from './codex-sandbox.ts';
import { type Script, scriptedResponses } from './scripted-responses.ts';

test('a session of codex continues on another machine and back, also one that was forked', async () => {
  const { on, history } = await machines((_, turn) => `A${turn}`);
  const main = await on.left('Q0', { use: 'fresh', id: randomUUID() });
  await on.right('Q1', { use: 'continue', id: main });
  await on.left('Q2', { use: 'continue', id: main });
  const called = await on.right('Q3', { use: 'branch', from: main, id: randomUUID() });
  await on.left('Q4', { use: 'continue', id: called });
  const nested = await on.right('Q5', { use: 'branch', from: called, id: randomUUID() });
  await on.right('Q6', { use: 'continue', id: main });
  // The nested fork refers to both other threads, and the first machine has less of one of them.
  await on.left('Q7', { use: 'continue', id: nested });
  await on.left('Q8', { use: 'continue', id: main });
  expect(history()).toEqual([
    'Q0',
    'Q0 A0 Q1',
    'Q0 A0 Q1 A1 Q2',
    'Q0 A0 Q1 A1 Q2 A2 Q3',
    'Q0 A0 Q1 A1 Q2 A2 Q3 A3 Q4',
    'Q0 A0 Q1 A1 Q2 A2 Q3 A3 Q4 A4 Q5',
    'Q0 A0 Q1 A1 Q2 A2 Q6',
    'Q0 A0 Q1 A1 Q2 A2 Q3 A3 Q4 A4 Q5 A5 Q7',
    'Q0 A0 Q1 A1 Q2 A2 Q6 A6 Q8',
  ]);
});

test('a turn that the run did not accept is in no later history, and a failed prompt is there once', async () => {
  const { on, history } = await machines((_, turn) =>
    turn === 2 ? { status: 500, error: { message: 'boom' } } : `A${turn}`,
  );
  const main = await on.left('Q0', { use: 'fresh', id: randomUUID() });
  await on.left('lost', { use: 'continue', id: main }, { accepted: false });
  await on.right('Q2', { use: 'continue', id: main });
  await on.left('Q2', { use: 'continue', id: main }, { repeats: 3 });
  expect(history()[2]).toBe('Q0 A0 Q2');
  expect(history()[3]).toMatch(/^Q0 A0 Q2 The last turn broke off/);
});

test.each(['../../../config.toml', '2026/11/16/rollout-../x.jsonl', '/etc/passwd'])(
  'a stored session cannot write %s',
  async (name) => {
    const { travel } = await machines(() => 'x');
    const thread = randomUUID();
    const files = [
      { name: `2026/11/16/rollout-x-${thread}.jsonl`, bytes: Buffer.from('{}\n') },
      { name, bytes: Buffer.from('x') },
    ];
    const packed = await packFiles({ note: { thread }, files });
    const before = { cwd: '/', previousFolder: undefined };
    await expect(travel?.unpack(thread, packed, before)).rejects.toThrow('not the name');
  },
);

interface How {
  readonly accepted?: boolean;
  /** The number of the step that this one repeats. */
  readonly repeats?: number;
}

async function machines(script: Script) {
  const model = await scriptedResponses(script);
  onTestFinished(() => model.close());
  const sessions = new SessionsInMemory();
  let steps = 0;
  const machine = async () => {
    const sandbox = await codexSandbox(model.url);
    const folder = join(sandbox.root, 'steps');
    const sessionsFolder = join(sandbox.root, 'sessions');
    const processes = new RunProcesses(folder, { key: STEP_KEY });
    const codex = codexExecutor({
      path: codexBinary(),
      environment: { ...sandbox.environment },
      processes,
      sessionsFolder,
      protects: protecting(sandbox.work),
    });
    const { prompt } = travellingExecutors(
      { prompt: codex, script: codex },
      { sessions, seals: processes.seals, folder: sessionsFolder },
    );
    if (!('start' in prompt)) throw new Error('There is one agent.');
    onTestFinished(() => sandbox.remove());
    const ask = async (text: string, session: SessionUse, how: How = {}) => {
      steps += 1;
      const repeats = how.repeats && {
        previousFolder: join(folder, String(how.repeats)),
        attempt: 2,
      };
      const where = place(text, sandbox.work, folder, steps);
      const step = promptStep({ number: steps, prompt: text, session, ...where, ...repeats });
      const outcome = await prompt.start(step, () => {}).outcome;
      if (how.accepted === false) sessions.refuse();
      else sessions.accept();
      return outcome.account.session?.id ?? '';
    };
    return { ask, travel: codex.travel };
  };
  const [left, right] = [await machine(), await machine()];
  const history = () =>
    model.requests.map(({ lines }) => lines.map((line) => line.replace(/^\w+: /, '')).join(' '));
  return { on: { left: left.ask, right: right.ask }, travel: left.travel, history };
}
