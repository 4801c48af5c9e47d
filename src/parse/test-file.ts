/** What people write to test a workflow: what happens to it, and what must come of it. */
import * as z from 'zod/mini';
import { runOutcomeSchema } from '../model/event.ts';
import { answersSchema, failureAnswerSchema, repliesSchema } from './rehearsal-file.ts';
import { count, mapOf, someText, usd } from './yaml-values.ts';

const outcomes = runOutcomeSchema.options;
const texts = z.record(z.string(), someText, 'a map of names to texts');
const path = z.array(someText, 'a list of states');
const yes = z.literal(true, 'true');

const expectSchema = mapOf({
  /** The states that the first agent was in. */
  path: z.optional(path),
  /** The same for each agent that is named. */
  paths: z.optional(z.record(z.string(), path, 'a map of agents to lists of states')),
  result: z.optional(someText),
  outcome: z.optional(z.enum(outcomes, `one of ${outcomes.join(', ')}`)),
  variables: z.optional(z.record(z.string(), texts, 'a map of agents to variables')),
  /** For a state, what its prompts contain. */
  prompts: z.optional(
    z.record(
      z.string(),
      z.union([someText, z.array(someText, 'a list of texts')], 'a text or a list of texts'),
      'a map of states to texts',
    ),
  ),
  /** How deep the deepest stack of an agent was. */
  depth: z.optional(count),
  cost: z.optional(usd),
  /** What files of the project folder contain. */
  files: z.optional(texts),
});

/** The run options that make a difference, named as in the config file. */
export type TestSettings = Readonly<Record<string, string | number | boolean | undefined>>;

const byAgent = {
  agent: someText,
  /** It came in together with what stands above, before anything else was begun. */
  together: z.optional(yes),
};

/** What came in, in the order in which it came. */
const recordedSchema = z.union(
  [
    mapOf({
      ...byAgent,
      state: someText,
      answer: someText,
      cost: z.optional(usd),
      denied: z.optional(z.array(someText, 'a list of tools')),
    }),
    mapOf({
      ...byAgent,
      state: someText,
      ...failureAnswerSchema.shape,
      /** When a usage limit ends, in ms since the epoch. */
      resets_at: z.optional(count),
    }),
    mapOf({ ...byAgent, reply: someText }),
    mapOf({ ...byAgent, came: z.literal('time', 'time') }),
    mapOf({ came: z.literal('end of usage limit', 'end of usage limit') }),
  ],
  'an end of a step, a reply, or a time that came',
);

const testShape = (settings: z.ZodMiniType<TestSettings>) => ({
  name: z.optional(someText),
  input: z.optional(someText),
  set: z.optional(texts),
  /** Files that are in the project folder at the beginning. */
  files: z.optional(texts),
  answers: z.optional(answersSchema),
  replies: z.optional(repliesSchema),
  budget: z.optional(usd),
  max_iterations: z.optional(count),
  settings: z.optional(settings),
  recorded: z.optional(z.array(recordedSchema, 'a list of what came in')),
  expect: z.optional(expectSchema),
});

/** `settings` says which run options a test may set. */
export function testFileSchema(settings: z.ZodMiniType<TestSettings>) {
  const shape = testShape(settings);
  const tests = z.array(mapOf(shape), 'a list of tests').check(z.minLength(1, 'a test'));
  return mapOf({ ...shape, tests: z.optional(tests) });
}

type TestFile = z.output<ReturnType<typeof testFileSchema>>;
export type WorkflowTest = Omit<TestFile, 'tests'>;
export type Expectations = z.output<typeof expectSchema>;
export type Recorded = z.output<typeof recordedSchema>;

/** The tests of a file. What stands beside `tests` holds for each of them that says nothing else. */
export function testsIn({ tests, ...shared }: TestFile): readonly WorkflowTest[] {
  if (!tests) return [shared];
  return tests.map((test) => ({
    ...shared,
    ...test,
    answers: { ...shared.answers, ...test.answers },
    set: { ...shared.set, ...test.set },
    files: { ...shared.files, ...test.files },
  }));
}
