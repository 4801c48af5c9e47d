import { randomUUID } from 'node:crypto';
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { answerRef } from '../../src/execute/steps/answer-ref.ts';
import type { AgentAbilities } from '../../src/model/agent.ts';
import type { SessionUse } from '../../src/model/event.ts';
import type { Cost } from '../../src/model/step-account.ts';
import type { Executor, Live, Step, StepOutcome } from '../../src/ports.ts';

/** An executor, with steps whose behaviour is known. */
export interface ExecutorUnderTest {
  readonly executor: Executor;
  /** Another executor of the same kind, as a later process of Raymond would create it. */
  again(): Executor;
  /** Stops following its steps; for an executor whose steps survive. */
  leave(): void;
  /** A new step. It answers "the answer", never ends, or has no directory. */
  step(what: 'answers' | 'never ends' | 'cannot begin'): Step;
  /** Resolves when this many steps have really started to work. */
  begun(count: number): Promise<void>;
  /** The number of steps that have really started to work. */
  executions(): number;
  /** The processes that still run for it. */
  left(): readonly number[];
  /** Present for an agent: single turns, and the prompts and answers that its model saw in each. */
  readonly converse?: {
    ask(prompt: string, session: SessionUse): Promise<StepOutcome>;
    heard(): readonly (readonly string[])[];
  };
}

export interface Abilities {
  /** What its declaration says; absent for an executor that declares no agent. */
  readonly can?: Pick<AgentAbilities, 'adopt' | 'branch' | 'cost'>;
  /** Its steps survive when Raymond is killed. By default, as declared. */
  readonly survives?: boolean;
  /** It chooses the ids of its sessions itself. */
  readonly namesSessions?: boolean;
  /** The origin of its costs. By default, as declared. */
  readonly cost?: Cost['from'];
}

const ORIGINS = { usd: 'told', tokens: 'priced', none: 'estimated' } as const;

/** The rules that Raymond expects every executor to follow. */
export function executorContract(
  name: string,
  {
    can,
    survives = can?.adopt ?? false,
    namesSessions = false,
    cost: origin = ORIGINS[can?.cost ?? 'usd'],
  }: Abilities,
  make: () => Promise<ExecutorUnderTest>,
) {
  describe(`${name} as an executor`, () => {
    test('answers', async () => {
      const { executor, step } = await make();
      const outcome = await executor.start(step('answers'), ignore).outcome;
      expect(outcome).toMatchObject({ kind: 'answered', denied: [] });
      expect(textOf(outcome)).toContain('the answer');
      await executor.close();
    });

    test('accounts for a step: its cost, its session and the text that decided it', async () => {
      const { executor, step } = await make();
      const given = step('answers');
      const outcome = await executor.start(given, ignore).outcome;
      const { cost, session } = outcome.account;
      expect(cost).toEqual({ usd: expect.any(Number), from: origin });
      if (namesSessions) expect(session?.id).toMatch(/^[\w-]+$/);
      else expect(session?.id).toBe(given.kind === 'prompt' ? given.session.id : undefined);
      expect(outcome).toMatchObject({ answer: answerRef(textOf(outcome)) });
      expect(executor.name).toMatch(/^[a-z][a-z0-9-]*$/);
      await executor.close();
    });

    test('reports a failure as an outcome', async () => {
      const { executor, step } = await make();
      for (const how of ['start', 'adopt'] as const) {
        const outcome = await executor[how](step('cannot begin'), ignore).outcome;
        expect(outcome).toMatchObject({ kind: 'failed', account: { cost: { usd: 0 } } });
        expect(outcome.kind === 'failed' && outcome.failure.message).not.toBe('');
      }
      await executor.close();
    });

    test('a stop settles the outcome and leaves no process', async () => {
      const { executor, step, begun, left } = await make();
      const running = executor.start(step('never ends'), ignore);
      await begun(1);
      running.stop();
      running.stop();
      expect(await running.outcome).toMatchObject({ kind: 'interrupted' });
      expect(left()).toEqual([]);
      running.stop();
      await executor.close();
    });

    test('a stop before the step has started works', async () => {
      const { executor, step, left } = await make();
      const running = executor.start(step('never ends'), ignore);
      running.stop();
      expect(await running.outcome).toMatchObject({ kind: 'interrupted' });
      expect(left()).toEqual([]);
      await executor.close();
    });

    test('takes several steps at a time, and stops only the given one', async () => {
      const { executor, step, begun, left } = await make();
      const endless = executor.start(step('never ends'), ignore);
      const other = executor.start(step('answers'), ignore);
      await begun(2);
      endless.stop();
      expect(await endless.outcome).toMatchObject({ kind: 'interrupted' });
      expect(textOf(await other.outcome)).toContain('the answer');
      await executor.close();
      // A process that has closed its last file may still be there for a moment.
      await expect.poll(left).toEqual([]);
    });

    test('adopting a step that never started starts it', async () => {
      const { executor, step, executions } = await make();
      const outcome = await executor.adopt(step('answers'), ignore).outcome;
      expect(textOf(outcome)).toContain('the answer');
      expect(executions()).toBe(1);
      await executor.close();
    });

    test('close works repeatedly', async () => {
      const { executor, step, left } = await make();
      await executor.start(step('answers'), ignore).outcome;
      await executor.close();
      await expect.poll(left).toEqual([]);
      await executor.close();
    });

    if (can)
      test('warns once if the output of a turn is replaced while it runs', async () => {
        const { executor, step, begun } = await make();
        const given = step('never ends');
        const lives: Live[] = [];
        const running = executor.start(given, (live) => lives.push(live));
        await begun(1);
        replaceFile(join(given.folder, 'stdout'));
        running.stop();
        await running.outcome;
        expect(lives.filter(({ kind }) => kind === 'warning')).toEqual([
          { kind: 'warning', text: expect.stringContaining('was replaced, moved or linked') },
        ]);
        await executor.close();
      });

    if (can)
      test(`sessions are started, continued ${can.branch ? 'and branched' : 'but not branched'}`, async () => {
        const { executor, converse } = await make();
        if (!converse) throw new Error('An agent needs a conversation.');
        const { ask, heard } = converse;
        const main = await ask('Q0', { use: 'fresh', id: randomUUID() });
        const from = sessionOf(main);
        const branch = await ask('Q1', { use: 'branch', from, id: randomUUID() });
        await ask('Q2', { use: 'continue', id: from });
        if (can.branch) await ask('Q3', { use: 'continue', id: sessionOf(branch) });
        else expect(branch).toMatchObject({ kind: 'failed' });
        await ask('Q4', { use: 'fresh', id: randomUUID() });
        expect(
          heard().map((lines) => lines.filter((line) => /^Q\d$/.test(line)).join(' ')),
        ).toEqual(can.branch ? ['Q0', 'Q0 Q1', 'Q0 Q2', 'Q0 Q1 Q3', 'Q4'] : ['Q0', 'Q0 Q2', 'Q4']);
        // Between two prompts is the answer to the first one.
        for (const lines of heard().filter((all) => all.length > 1))
          expect(lines[1]).not.toMatch(/^Q/);
        await executor.close();
      });

    if (!survives) {
      test('adopting a step that ended or still runs elsewhere settles, and leaves no process', async () => {
        const { executor, again, step, begun, left } = await make();
        const ended = step('answers');
        await executor.start(ended, ignore).outcome;
        const endless = step('never ends');
        const running = executor.start(endless, ignore);
        await begun(2);
        const later = again();
        expect(SETTLED).toContain((await later.adopt(ended, ignore).outcome).kind);
        const adopted = later.adopt(endless, ignore);
        adopted.stop();
        expect(SETTLED).toContain((await adopted.outcome).kind);
        running.stop();
        await running.outcome;
        await Promise.all([later.close(), executor.close()]);
        await expect.poll(left).toEqual([]);
      });
      return;
    }

    test('adopting a step that has ended reads its outcome and does not run it again', async () => {
      const { executor, again, step, executions } = await make();
      const ours = step('answers');
      const first = await executor.start(ours, ignore).outcome;
      await executor.close();
      const later = again();
      const second = await later.adopt(ours, ignore).outcome;
      expect(textOf(second)).toBe(textOf(first));
      expect(second.account).toEqual(first.account);
      expect(executions()).toBe(1);
      await later.close();
    });

    test('adopts a step that still runs, and can stop it', async () => {
      const { executor, again, step, begun, executions, left } = await make();
      const ours = step('never ends');
      const abandoned = executor.start(ours, ignore);
      await begun(1);
      const later = again();
      const adopted = later.adopt(ours, ignore);
      adopted.stop();
      expect(await adopted.outcome).toMatchObject({ kind: 'interrupted' });
      expect(left()).toEqual([]);
      expect(executions()).toBe(1);
      await abandoned.outcome;
      await Promise.all([later.close(), executor.close()]);
    });

    test('leaves a step that another process has adopted', async () => {
      const { executor, leave, again, step, begun, executions, left } = await make();
      const ours = step('never ends');
      const running = executor.start(ours, ignore);
      await begun(1);
      const later = again();
      const adopted = later.adopt(ours, ignore);
      leave();
      running.stop();
      expect(await running.outcome).toMatchObject({ kind: 'interrupted' });
      await executor.close();
      expect(left()).toHaveLength(1);
      adopted.stop();
      expect(await adopted.outcome).toMatchObject({ kind: 'interrupted' });
      expect(left()).toEqual([]);
      expect(executions()).toBe(1);
      await later.close();
    });
  });
}

const ignore: (live: Live) => void = () => {};

/** Puts a copy in the place of a file. */
export function replaceFile(path: string): void {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
}

const SETTLED: readonly StepOutcome['kind'][] = ['answered', 'failed', 'interrupted'];

function sessionOf({ account }: StepOutcome): string {
  if (!account.session) throw new Error('The turn has no session.');
  return account.session.id;
}

function textOf(outcome: StepOutcome): string {
  if (outcome.kind !== 'answered') throw new Error(`It did not answer: ${JSON.stringify(outcome)}`);
  return outcome.output.slice(0, outcome.output.length);
}
