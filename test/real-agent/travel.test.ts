// Sessions of the real Claude Code on two machines: each has its own home, directory and folders.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { claudeExecutor } from '../../src/execute/claude/claude.ts';
import { RunProcesses } from '../../src/execute/process/index.ts';
import { travellingExecutors } from '../../src/execute/turn/travelling.ts';
import type { SessionUse } from '../../src/model/event.ts';
import type { Executor, PromptStep } from '../../src/ports.ts';
import { SessionsInMemory } from '../carried-sessions.ts';
import { NOTHING_APPROVED, place, promptStep, protecting } from '../contracts/steps.ts';
import { inSuite } from '../long.ts';
import { STEP_KEY } from '../step-key.ts';
import { call } from './asking-run.ts';
import { type Age, claudeBinary, claudeSandbox, suiteAges } from './claude-sandbox.ts';
import { conversationLines } from './raymond-sandbox.ts';
import { faults, type Script, scriptedModel } from './scripted-model.ts';

test.each(suiteAges)(
  'a session of the %s version continues on another machine and back',
  async (age) => {
    const { on, history } = await machines(age, (_, turn) => `A${turn}`);
    const main = randomUUID();
    const first = await on.left('Q0', { use: 'fresh', id: main });
    await on.right('Q1', { use: 'continue', id: main });
    // The process that waits on the first machine does not know Q1.
    await on.left('Q2', { use: 'continue', id: main });
    await on.left('Q3', { use: 'continue', id: main });
    // A call, its continuation elsewhere, and the return to the caller's session.
    const called = randomUUID();
    await on.right('Q4', { use: 'branch', from: main, id: called });
    await on.left('Q5', { use: 'continue', id: called });
    await on.right('Q6', { use: 'continue', id: main });
    // A function begins a session; a rewind branches at an earlier message.
    await on.left('Q7', { use: 'fresh', id: randomUUID() });
    const at = first.account.session?.checkpoint;
    await on.left('Q8', { use: 'branch', from: main, id: randomUUID(), ...(at && { at }) });
    expect(history()).toEqual([
      'Q0',
      'Q0 A0 Q1',
      'Q0 A0 Q1 A1 Q2',
      'Q0 A0 Q1 A1 Q2 A2 Q3',
      'Q0 A0 Q1 A1 Q2 A2 Q3 A3 Q4',
      'Q0 A0 Q1 A1 Q2 A2 Q3 A3 Q4 A4 Q5',
      'Q0 A0 Q1 A1 Q2 A2 Q3 A3 Q6',
      'Q7',
      'Q0 A0 Q8',
    ]);
  },
);

// When the older version is stopped, it reports that it may not make the call, but does not record it.
test.each(inSuite<Age>(['older'], ['newer']))(
  'a session of the %s version that was stopped while it asked continues on another machine',
  async (age) => {
    const { on, history } = await machines(age, (_, turn) => (turn === 0 ? call('x') : `A${turn}`));
    const main = randomUUID();
    const stopped = await on.left('Q0', { use: 'fresh', id: main }, { stopsWhenAsked: true });
    expect(stopped).toMatchObject({ kind: 'interrupted', sessionUsable: true });
    expect(await on.right('Q1', { use: 'continue', id: main })).toMatchObject({ kind: 'answered' });
    expect(history().at(-1)).toMatch(/^Q0 .*Q1$/s);
  },
);

describe.each(suiteAges)('with the %s version', (age) => {
  test('a machine that has the stored session does not fetch it', async () => {
    const { on, sessions, history } = await machines(age, (_, turn) => `A${turn}`);
    const main = randomUUID();
    await on.left('Q0', { use: 'fresh', id: main });
    await on.left('Q1', { use: 'continue', id: main });
    await on.left('Q2', { use: 'branch', from: main, id: randomUUID() });
    expect(sessions.fetched).toBe(0);
    expect(history().at(-1)).toBe('Q0 A0 Q1 A1 Q2');
  });

  test('a turn that the run did not accept is in no later history', async () => {
    const { on, sessions, history } = await machines(age, (_, turn) => `A${turn}`);
    const main = randomUUID();
    await on.left('Q0', { use: 'fresh', id: main });
    await on.left('lost', { use: 'continue', id: main }, { accepted: false });
    await on.right('Q2', { use: 'continue', id: main });
    await on.left('Q3', { use: 'continue', id: main });
    expect(history().slice(2)).toEqual(['Q0 A0 Q2', 'Q0 A0 Q2 A2 Q3']);
    expect(sessions.fetched).toBe(2);
  });

  test('a prompt that failed elsewhere is in the history once', async () => {
    const { on, history } = await machines(age, (_, turn) =>
      turn === 1 ? faults.overloaded : `A${turn}`,
    );
    const main = randomUUID();
    await on.left('Q0', { use: 'fresh', id: main });
    const failed = await on.left('Q1', { use: 'continue', id: main });
    expect(failed.kind).toBe('failed');
    await on.right('Q1', { use: 'continue', id: main }, { repeats: 2 });
    expect(history()[2]).toBe('Q0 A0 Q1');
  });

  test('a session that cannot leave its machine is declared lost, with a remedy', async () => {
    const { on, history } = await machines(
      age,
      (_, turn) => `A${turn}`,
      ({ travel: _, ...executor }) => executor,
    );
    const main = randomUUID();
    await on.left('Q0', { use: 'fresh', id: main });
    await on.left('Q1', { use: 'continue', id: main });
    const outcome = await on.right('Q2', { use: 'continue', id: main });
    expect(outcome).toMatchObject({
      kind: 'failed',
      failure: { kind: 'session-gone', message: expect.stringMatching(/--fresh/) },
    });
    expect(history()).toEqual(['Q0', 'Q0 A0 Q1']);
  });
});

interface How {
  /** Stops the step when it asks for a permission. */
  readonly stopsWhenAsked?: boolean;
  readonly accepted?: boolean;
  /** The number of the step that this one repeats. */
  readonly repeats?: number;
}

async function machines(
  age: Age,
  script: Script,
  limited: (executor: Executor) => Executor = (executor) => executor,
) {
  const model = await scriptedModel(script);
  const sessions = new SessionsInMemory();
  let steps = 0;
  const machine = async () => {
    const sandbox = await claudeSandbox(model.url);
    const folder = join(sandbox.work, '..', 'steps');
    const sessionsFolder = join(sandbox.work, '..', 'sessions');
    const processes = new RunProcesses(folder, { key: STEP_KEY });
    const claude = claudeExecutor({
      path: claudeBinary(age),
      environment: { ...sandbox.environment },
      processes,
      sessionsFolder,
      mostProcesses: 16,
      approvals: NOTHING_APPROVED,
      protects: protecting(sandbox.work),
    });
    const { prompt } = travellingExecutors(
      { prompt: limited(claude), script: claude },
      { sessions, seals: processes.seals, folder: sessionsFolder },
    );
    if (!('start' in prompt)) throw new Error('There is one agent.');
    onTestFinished(async () => {
      await prompt.close();
      await sandbox.remove();
    });
    return async (text: string, session: SessionUse, how: How = {}) => {
      steps += 1;
      const parts: Partial<PromptStep> = {
        agent: 'main',
        session,
        asksPermissions: how.stopsWhenAsked === true,
        ...(how.repeats && { previousFolder: join(folder, String(how.repeats)), attempt: 2 }),
      };
      const where = place(text, sandbox.work, folder, steps);
      const step = promptStep({ number: steps, prompt: text, ...where, ...parts });
      const running = prompt.start(
        step,
        () => {},
        ({ kind }) => kind === 'requested' && running.stop(),
      );
      const outcome = await running.outcome;
      if (how.accepted === false) sessions.refuse();
      else sessions.accept();
      return outcome;
    };
  };
  const on = { left: await machine(), right: await machine() };
  onTestFinished(() => model.close());
  const history = () =>
    model.requests.map((request) =>
      conversationLines(request)
        .map((line) => line.replace(/^\w+: /, ''))
        .join(' '),
    );
  return { on, sessions, history };
}
