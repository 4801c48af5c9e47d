// The real codex against a scripted model.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { codexExecutor } from '../../src/execute/codex/codex.ts';
import { codexAgent } from '../../src/execute/codex/declaration.ts';
import { RunProcesses } from '../../src/execute/process/index.ts';
import type { SessionUse } from '../../src/model/event.ts';
import type { PromptStep, StepOutcome } from '../../src/ports.ts';
import { type ExecutorUnderTest, executorContract } from '../contracts/agent-executor.ts';
import { living, place, promptStep, protecting } from '../contracts/steps.ts';
import { STEP_KEY } from '../step-key.ts';
import { codexBinary, codexSandbox, MODEL } from './codex-sandbox.ts';
import { type Script, scriptedResponses } from './scripted-responses.ts';

const never = new Promise<void>(() => {});

executorContract('codex', { can: codexAgent.can, namesSessions: true }, async () => {
  const { world, model, ask } = await codex(({ prompt }) =>
    prompt === 'never ends' ? { text: '', after: never } : 'the answer',
  );
  const heard = () => model.requests.map(({ lines }) => lines.map(words));
  return { ...world, begun: (count) => model.arrived(count), converse: { ask, heard } };
});

const COST = (60 * 1.25 + 40 * 0.125 + 20 * 10) / 1_000_000;

test('a session is started, continued and branched as the step says, and each turn is counted once', async () => {
  const { ask, model } = await codex((_, turn) => `A${turn}`);
  const fresh = { use: 'fresh', id: randomUUID() } as const;
  const main = await ask('Q0', fresh);
  const branch = await ask('Q1', { use: 'branch', from: idOf(main), id: randomUUID() });
  const again = await ask(
    'Q2',
    { use: 'continue', id: idOf(main) },
    { model: 'other', effort: 'low' },
  );
  const nested = await ask('Q3', { use: 'branch', from: idOf(branch), id: randomUUID() });
  // The id that Raymond chose also names the session.
  const last = await ask('Q4', { use: 'continue', id: fresh.id });
  expect(model.requests.map(({ lines }) => lines.map(words).join(' '))).toEqual([
    'Q0',
    'Q0 A0 Q1',
    'Q0 A0 Q2',
    'Q0 A0 Q1 A1 Q3',
    'Q0 A0 Q2 A2 Q4',
  ]);
  expect(idOf(again)).toBe(idOf(main));
  expect(new Set([main, branch, nested].map(idOf)).size).toBe(3);
  expect(model.requests.map((each) => [each.model, each.effort])[2]).toEqual(['other', 'low']);
  expect(model.requests[4]?.model).toBe(MODEL);
  for (const { account } of [main, branch, nested, last]) {
    expect(account.cost.usd).toBeCloseTo(COST, 9);
    expect(account.usage).toMatchObject({
      inputTokens: 60,
      cacheReadTokens: 40,
      outputTokens: 20,
    });
  }
  // Raymond does not know the price of this model, so it assumes the highest.
  expect(again.account.cost.usd).toBeGreaterThan(COST);
  expect(model.others).toEqual([]);
});

test.each([
  ['not-logged-in', 401, { message: 'Incorrect API key provided' }],
  ['usage-limit', 429, { type: 'usage_limit_reached', message: 'x', resets_at: soon() }],
  ['overloaded', 500, { message: 'boom' }],
  ['unknown-model', 404, { message: 'The model `x` does not exist.', code: 'model_not_found' }],
] as const)('a fault of the service is a failure of the kind %s', async (kind, status, error) => {
  const { ask } = await codex(() => ({ status, error }));
  const outcome = await ask('Q', { use: 'fresh', id: randomUUID() });
  expect(outcome).toMatchObject({ kind: 'failed', failure: { kind } });
  if (outcome.kind === 'failed' && kind === 'usage-limit')
    expect(outcome.failure.resetsAt).toBeGreaterThan(Date.now());
});

test('a model of codex without a known price is reported once', async () => {
  const { world, step } = await codex(() => 'x');
  const notes: string[] = [];
  for (const _ of [1, 2]) {
    const own = step('Q', { use: 'fresh', id: randomUUID() }, { model: 'other' });
    await world.executor.start(own, (live) => {
      if (live.kind === 'note' && live.text.includes('price')) notes.push(live.text);
    }).outcome;
  }
  expect(notes).toEqual([expect.stringContaining('Add price."other" to [agents.codex]')]);
});

test('a session that codex does not know is gone', async () => {
  const { ask } = await codex(() => 'x');
  const outcome = await ask('Q', { use: 'continue', id: randomUUID() });
  expect(outcome).toMatchObject({ kind: 'failed', failure: { kind: 'session-gone' } });
});

test('a repeated prompt is not sent twice to a session', async () => {
  const { ask, step, model } = await codex((_, turn) =>
    turn === 1 ? { status: 500, error: { message: 'boom' } } : `A${turn}`,
  );
  const main = idOf(await ask('Q0', { use: 'fresh', id: randomUUID() }));
  const failed = step('Q1', { use: 'continue', id: main });
  expect(await ask(failed)).toMatchObject({ kind: 'failed' });
  await ask('Q1', { use: 'continue', id: main }, { previousFolder: failed.folder, attempt: 2 });
  const lines = model.requests[2]?.lines ?? [];
  expect(lines.filter((line) => line === 'user: Q1')).toHaveLength(1);
  expect(lines.at(-1)).toMatch(/^user: The last turn broke off/);
});

function soon(): number {
  return Math.floor(Date.now() / 1000) + 3600;
}

const words = (line: string) => line.replace(/^\w+: /, '');

function idOf({ account }: StepOutcome): string {
  if (!account.session) throw new Error('The turn has no session.');
  return account.session.id;
}

async function codex(script: Script) {
  const model = await scriptedResponses(script);
  const sandbox = await codexSandbox(model.url);
  const folder = join(sandbox.root, 'steps');
  onTestFinished(async () => {
    await model.close();
    await sandbox.remove();
  });
  const make = (processes = new RunProcesses(folder, { key: STEP_KEY })) =>
    codexExecutor({
      path: codexBinary(),
      environment: { ...sandbox.environment },
      processes,
      sessionsFolder: join(sandbox.root, 'sessions'),
      protects: protecting(sandbox.work),
    });
  const processes = new RunProcesses(folder, { key: STEP_KEY });
  const executor = make(processes);
  let steps = 0;
  const step = (prompt: string, session: SessionUse, more: StepParts = {}): PromptStep => {
    steps += 1;
    const { model: named, effort, ...parts } = more;
    const choices = { ...(named && { model: named }), ...(effort && { effort }) };
    const own = { number: steps, prompt, session, ...place(prompt, sandbox.work, folder, steps) };
    return promptStep({ ...own, choices, ...parts });
  };
  const world: Omit<ExecutorUnderTest, 'begun'> = {
    executor,
    again: () => make(),
    leave: () => processes.leave(),
    step: (what) => step(what, { use: 'fresh', id: randomUUID() }),
    executions: () => model.requests.length,
    left: () => living(folder, steps),
  };
  function ask(given: PromptStep): Promise<StepOutcome>;
  function ask(prompt: string, session: SessionUse, more?: StepParts): Promise<StepOutcome>;
  function ask(given: PromptStep | string, session?: SessionUse, more?: StepParts) {
    const own = typeof given === 'string' && session ? step(given, session, more) : given;
    if (typeof own === 'string') throw new Error('A prompt needs a session.');
    return executor.start(own, () => {}).outcome;
  }
  return { world, model, step, ask };
}

type StepParts = Partial<PromptStep> & { readonly model?: string; readonly effort?: string };
