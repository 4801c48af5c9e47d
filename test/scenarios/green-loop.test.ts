/**
 * The template `test-until-green`: work until the tests pass, then let a fresh reviewer decide, within a
 * budget. Everything that happens is asserted.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { lint } from '../../src/lint/lint.ts';
import type { Step } from '../../src/ports.ts';
import {
  type Played,
  play,
  type Script,
  type ScriptedAnswer,
  scriptedWorkflow,
} from '../../src/testing.ts';

const TEMPLATE = join(import.meta.dirname, '..', '..', 'templates', 'test-until-green');
const COMMAND = 'eval "$test_command"';

interface Answers {
  /** By state, one for each turn. The last one repeats. */
  readonly turns: Readonly<Record<string, readonly ScriptedAnswer[]>>;
  /** The exit codes of the tests, in order. The last one repeats. */
  readonly tests: readonly number[];
}

/** The files of the template, with these answers. */
function flow({ turns, tests }: Answers): Script {
  const taken = new Map<string, number>();
  const next = <T>(key: string, list: readonly T[]): T | undefined => {
    const at = taken.get(key) ?? 0;
    taken.set(key, at + 1);
    return list[Math.min(at, list.length - 1)];
  };
  const answers = (step: Step): ScriptedAnswer => {
    if (step.kind !== 'check') return next(step.state, turns[step.state] ?? []) ?? 'no answer';
    expect(step.command).toBe(COMMAND);
    const exit = next('tests', tests) ?? 0;
    return { text: exit === 0 ? 'all tests pass' : '2 of 9 tests fail', exit };
  };
  const names = readdirSync(TEMPLATE).filter((name) => /^[A-Z]+\.md$|^workflow/.test(name));
  return Object.fromEntries(
    names
      .filter((name) => name !== 'README.md')
      .map((name) => [name, { text: readFileSync(join(TEMPLATE, name), 'utf8'), answers }]),
  );
}

const REVIEW = '<function return="DECIDE">REVIEW</function>';
const paid = (text: string, costUsd: number) => ({ text, costUsd });

/** The prompts that a state received, in order. */
const promptsOf = ({ steps }: Played, state: string) =>
  steps.filter((step) => step.state === state && step.session).map(({ prompt }) => prompt);

const codesOf = ({ events }: Played) =>
  events.flatMap((event) => (event.type === 'step-ended' && 'exit' in event ? [event.exit] : []));

test('the template has no fault', () => {
  expect(lint(scriptedWorkflow(flow({ turns: {}, tests: [] })))).toEqual([]);
});

test('red, green, rejected, red, green, accepted', async () => {
  const played = await play(
    flow({
      turns: {
        'START.md': [paid(REVIEW, 1), paid(REVIEW, 0.5)],
        'REVIEW.md': [
          paid('<result>a.ts:3: no test</result>', 0.2),
          paid('<result>APPROVED</result>', 0.2),
        ],
        'DECIDE.md': [
          paid(REVIEW, 0.3),
          paid(REVIEW, 0.3),
          paid('<result>done: a.ts</result>', 0.1),
        ],
      },
      tests: [1, 0, 1, 0, 0],
    }),
    { input: 'make it faster' },
  );
  // Each check is a step of the state that it checks.
  expect(played.path()).toEqual([
    ...['START', 'START', 'START', 'START', 'REVIEW'],
    ...['DECIDE', 'DECIDE', 'DECIDE', 'DECIDE', 'REVIEW', 'DECIDE', 'DECIDE'],
  ]);
  expect(codesOf(played)).toEqual([1, 0, 1, 0, 0]);

  const [task, reminder] = promptsOf(played, 'START.md');
  expect(task).toContain('The task:\n\nmake it faster\n');
  expect(reminder).toContain('The tests must pass before the review.');
  expect(reminder).toContain('2 of 9 tests fail');
  const [rejected, again, approved] = promptsOf(played, 'DECIDE.md');
  expect(rejected).toContain('a.ts:3: no test');
  expect(again).toContain('The tests must pass.');
  expect(approved).toContain('APPROVED');

  const reviews = played.steps.filter(({ state }) => state === 'REVIEW.md');
  expect(reviews.map(({ session }) => session?.use)).toEqual(['fresh', 'fresh']);
  const others = played.steps.flatMap(({ state, session }) =>
    session && state !== 'REVIEW.md' ? [session.id] : [],
  );
  expect(new Set(others).size).toBe(1);
  expect(new Set([...others, ...reviews.map(({ session }) => session?.id)]).size).toBe(3);
  expect(played.run).toMatchObject({
    status: { kind: 'ended', outcome: 'completed' },
    result: 'done: a.ts',
  });
  expect(played.run.totalCostUsd).toBeCloseTo(2.6, 9);
});

test('tests that stay red lead to the report after eight reminders, in the same conversation', async () => {
  const played = await play(
    flow({
      turns: { 'START.md': [REVIEW], 'STUCK.md': ['<result>stuck: 2 tests</result>'] },
      tests: [1],
    }),
    { input: 'x' },
  );
  expect(promptsOf(played, 'START.md')).toHaveLength(9);
  expect(codesOf(played)).toEqual(Array(9).fill(1));
  expect(played.path().at(-1)).toBe('STUCK');
  const sessions = played.steps.flatMap(({ session }) => (session ? [session.id] : []));
  expect(new Set(sessions).size).toBe(1);
  expect(played.run).toMatchObject({
    status: { kind: 'ended', outcome: 'completed' },
    result: 'stuck: 2 tests',
  });
});

test.each([
  ['after four reviews', ['one', 'two', 'three', 'four'], 4],
  ['when a round changes nothing', ['one', 'one'], 2],
])('a reviewer who is never satisfied leads to the report %s', async (_, findings, reviews) => {
  const played = await play(
    flow({
      turns: {
        'START.md': [REVIEW],
        'REVIEW.md': findings.map((finding) => `<result>${finding}</result>`),
        'DECIDE.md': [REVIEW],
        'STUCK.md': ['<result>stuck</result>'],
      },
      tests: [0],
    }),
    { input: 'x' },
  );
  expect(promptsOf(played, 'REVIEW.md')).toHaveLength(reviews);
  expect(promptsOf(played, 'DECIDE.md')).toHaveLength(reviews);
  expect(promptsOf(played, 'STUCK.md')).toHaveLength(1);
  expect(played.events.filter(({ type }) => type === 'transition-overridden')).toHaveLength(1);
  expect(played.run.result).toBe('stuck');
});

test('the budget ends the loop between two turns, and a resume with more money finishes', async () => {
  const stopped = await play(flow({ turns: { 'START.md': [paid(REVIEW, 1)] }, tests: [1] }), {
    input: 'x',
    settings: { budgetUsd: 2.5 },
  });
  expect(promptsOf(stopped, 'START.md')).toHaveLength(3);
  expect(codesOf(stopped)).toEqual([1, 1]);
  expect(stopped.run).toMatchObject({
    status: { kind: 'ended', outcome: 'stopped: budget' },
    totalCostUsd: 3,
  });
  const resumed = await play(
    flow({
      turns: {
        'START.md': [paid(REVIEW, 1)],
        'REVIEW.md': ['<result>APPROVED</result>'],
        'DECIDE.md': ['<result>done</result>'],
      },
      tests: [1, 0],
    }),
    { resume: stopped.run, settings: { budgetUsd: 8 } },
  );
  // The resume begins with the check of the last turn. It fails, so the conversation continues.
  expect(codesOf(resumed)).toEqual([1, 0, 0]);
  expect(promptsOf(resumed, 'START.md')).toHaveLength(1);
  const session = stopped.steps[0]?.session?.id;
  expect(resumed.steps[1]?.session).toEqual({ use: 'continue', id: session });
  expect(resumed.run).toMatchObject({
    status: { kind: 'ended', outcome: 'completed' },
    result: 'done',
    totalCostUsd: 4,
  });
});
