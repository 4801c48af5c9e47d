import { describe, expect, test } from 'vitest';
import { answerRef } from '../../src/execute/answer-ref.ts';
import type { Executor, Live, Step, StepOutcome } from '../../src/ports.ts';

/** One executor in a world where it is known what its steps will do. */
export interface ExecutorUnderTest {
  readonly executor: Executor;
  /** Another one of the same kind, as a later process of Raymond would make it. */
  again(): Executor;
  /** Lets go of its steps; for one whose steps survive. */
  leave(): void;
  /** A new step: it answers "the answer", never ends, or has no directory to begin in. */
  step(what: 'answers' | 'never ends' | 'cannot begin'): Step;
  /** Resolves when so many steps have really begun to work. */
  begun(count: number): Promise<void>;
  /** How many steps have really begun to work so far. */
  executions(): number;
  /** The processes that still live on its behalf. */
  left(): readonly number[];
}

export interface Abilities {
  /** Its steps live on when Raymond is killed. */
  readonly survives: boolean;
}

/** What Raymond relies on in every executor, whatever it drives. */
export function executorContract(
  name: string,
  { survives }: Abilities,
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
      expect(cost).toEqual({ usd: expect.any(Number), from: 'told' });
      expect(session?.id).toBe(given.kind === 'prompt' ? given.session.id : undefined);
      expect(outcome).toMatchObject({ answer: answerRef(textOf(outcome)) });
      expect(executor.name).toMatch(/^[a-z]+$/);
      await executor.close();
    });

    test('says trouble as an outcome', async () => {
      const { executor, step } = await make();
      for (const how of ['start', 'adopt'] as const) {
        const outcome = await executor[how](step('cannot begin'), ignore).outcome;
        expect(outcome).toMatchObject({ kind: 'failed', account: { cost: { usd: 0 } } });
        expect(outcome.kind === 'failed' && outcome.failure.message).not.toBe('');
      }
      await executor.close();
    });

    test('a stop settles the outcome and leaves nothing', async () => {
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

    test('a stop may come before the step has begun', async () => {
      const { executor, step, left } = await make();
      const running = executor.start(step('never ends'), ignore);
      running.stop();
      expect(await running.outcome).toMatchObject({ kind: 'interrupted' });
      expect(left()).toEqual([]);
      await executor.close();
    });

    test('takes several steps at a time, and stops only the one that is meant', async () => {
      const { executor, step, begun, left } = await make();
      const endless = executor.start(step('never ends'), ignore);
      const other = executor.start(step('answers'), ignore);
      await begun(2);
      endless.stop();
      expect(await endless.outcome).toMatchObject({ kind: 'interrupted' });
      expect(textOf(await other.outcome)).toContain('the answer');
      await executor.close();
      expect(left()).toEqual([]);
    });

    test('starts a step that was never begun when it is adopted', async () => {
      const { executor, step, executions } = await make();
      const outcome = await executor.adopt(step('answers'), ignore).outcome;
      expect(textOf(outcome)).toContain('the answer');
      expect(executions()).toBe(1);
      await executor.close();
    });

    test('closes what it keeps, as often as it is told', async () => {
      const { executor, step, left } = await make();
      await executor.start(step('answers'), ignore).outcome;
      await executor.close();
      expect(left()).toEqual([]);
      await executor.close();
    });

    if (!survives) return;

    test('consumes a step that has ended meanwhile, and asks no more', async () => {
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

    test('takes up a step that still runs, and can stop it', async () => {
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

function textOf(outcome: StepOutcome): string {
  if (outcome.kind !== 'answered') throw new Error(`It did not answer: ${JSON.stringify(outcome)}`);
  return outcome.output.slice(0, outcome.output.length);
}
