/** The files with which a user tests a workflow: the inputs and the expected results. */
import * as z from 'zod/mini';
import { childStatusSchema } from '../model/agent-state.ts';
import { runOutcomeSchema } from '../model/event.ts';
import {
  answersOfSchema,
  answersSchema,
  checksSchema,
  failureAnswerSchema,
  fillsSchema,
  repliesSchema,
} from './rehearsal-file.ts';
import { count, mapOf, someText, usd } from './yaml-values.ts';

const outcomes = runOutcomeSchema.options;
const texts = z.record(z.string(), someText, 'a map of names to texts');
const path = z.array(someText, 'a list of states');
const yes = z.literal(true, 'true');

const statuses = childStatusSchema.options;

const joinSchema = mapOf({
  /** The agent that joined; the first one if absent. */
  agent: z.optional(someText),
  /** The state at which it continued. */
  state: z.optional(someText),
  /** The status of each child, in the order of the forks. */
  workers: z.optional(
    z.record(
      z.string(),
      z.enum(statuses, `one of ${statuses.join(', ')}`),
      'a map of agents to statuses',
    ),
  ),
});

const expectSchema = mapOf({
  /** The states that the first agent was in. */
  path: z.optional(path),
  /** The states of each named agent. */
  paths: z.optional(z.record(z.string(), path, 'a map of agents to lists of states')),
  result: z.optional(someText),
  /** The results of each named agent. */
  results: z.optional(texts),
  /** The joins in the order of their reports. */
  joins: z.optional(z.array(joinSchema, 'a list of joins')),
  outcome: z.optional(z.enum(outcomes, `one of ${outcomes.join(', ')}`)),
  variables: z.optional(z.record(z.string(), texts, 'a map of agents to variables')),
  /** For each state, the texts that its prompts contain. */
  prompts: z.optional(
    z.record(
      z.string(),
      z.union([someText, z.array(someText, 'a list of texts')], 'a text or a list of texts'),
      'a map of states to texts',
    ),
  ),
  /** For each state with several lanes, those that took its steps, in order. */
  lanes: z.optional(
    z.record(z.string(), z.array(someText, 'a list of lanes'), 'a map of states to lanes'),
  ),
  /** The largest depth of any stack. */
  depth: z.optional(count),
  cost: z.optional(usd),
  /** For each file of the project folder, the text that it contains. */
  files: z.optional(texts),
  /** For each branch, the subjects of some of its commits and the texts that its files contain. */
  branches: z.optional(
    z.record(
      z.string(),
      z.union(
        [
          z.literal('none', 'none'),
          mapOf({
            commits: z.optional(z.array(someText, 'a list of subjects')),
            files: z.optional(texts),
          }),
        ],
        'none, or {commits: …, files: …}',
      ),
      'a map of branches',
    ),
  ),
});

/** A commit of the test's repository, after the first one, which contains `files` of the test. */
export const commitSchema = mapOf({
  /** A new one starts at main, which is the default. */
  branch: z.optional(someText),
  message: z.optional(someText),
  files: texts,
});

/** The run options that affect a test, named as in the config file. */
export type TestSettings = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

const byAgent = {
  agent: someText,
  /** It arrived together with the entry above, before Raymond started anything else. */
  together: z.optional(yes),
};

/** The inputs of a run, in the order in which they arrived. */
const recordedSchema = z.union(
  [
    mapOf({
      ...byAgent,
      state: someText,
      answer: someText,
      cost: z.optional(usd),
      /** The exit code of a check. Its `answer` is the end of its output. */
      exit: z.optional(count),
      denied: z.optional(z.array(someText, 'a list of tools')),
    }),
    mapOf({
      ...byAgent,
      state: someText,
      ...failureAnswerSchema.shape,
      /** When a usage limit ends, in ms since the epoch. */
      resets_at: z.optional(count),
    }),
    /** A join stopped the step. */
    mapOf({ ...byAgent, state: someText, stopped: yes, cost: z.optional(usd) }),
    mapOf({ ...byAgent, reply: someText }),
    /** Stands for the input and the files that it found in its state. */
    mapOf({ ...byAgent, entered: someText }),
    mapOf({ ...byAgent, came: z.literal('time', 'time') }),
    mapOf({ came: z.literal('end of usage limit', 'end of usage limit') }),
  ],
  'an end of a step, a reply, or a time',
);

const testShape = (settings: z.ZodMiniType<TestSettings>) => ({
  name: z.optional(someText),
  input: z.optional(someText),
  /** The trigger that starts the run: its kind, the name of its webhook, or its whole name. */
  trigger: z.optional(someText),
  /** When the trigger starts the run, with a time zone. */
  at: z.optional(someText),
  /** The payload of a delivery. */
  payload: z.optional(z.unknown()),
  /** The file that starts the run. */
  file: z.optional(someText),
  set: z.optional(texts),
  /** Files of the project folder at the start. */
  files: z.optional(texts),
  /** Makes the project folder a git repository, in which forks get real worktrees. */
  git: z.optional(
    z.union([yes, z.array(commitSchema, 'a list of commits')], 'true or a list of commits'),
  ),
  answers: z.optional(answersSchema),
  answers_of: z.optional(answersOfSchema),
  checks: z.optional(checksSchema),
  handovers: z.optional(answersSchema),
  fills: z.optional(fillsSchema),
  replies: z.optional(repliesSchema),
  budget: z.optional(usd),
  max_iterations: z.optional(count),
  settings: z.optional(settings),
  recorded: z.optional(z.array(recordedSchema, 'a list of inputs')),
  expect: z.optional(expectSchema),
});

/** `settings` defines the run options that a test may set. */
export function testFileSchema(settings: z.ZodMiniType<TestSettings>) {
  const shape = testShape(settings);
  const tests = z.array(mapOf(shape), 'a list of tests').check(z.minLength(1, 'a test'));
  return mapOf({ ...shape, tests: z.optional(tests) });
}

type TestFile = z.output<ReturnType<typeof testFileSchema>>;
export type WorkflowTest = Omit<TestFile, 'tests'>;
export type Expectations = z.output<typeof expectSchema>;
export type Recorded = z.output<typeof recordedSchema>;

/** The tests of a file. The keys beside `tests` apply to each test that does not override them. */
export function testsIn({ tests, ...shared }: TestFile): readonly WorkflowTest[] {
  if (!tests) return [shared];
  return tests.map((test) => ({
    ...shared,
    ...test,
    answers: { ...shared.answers, ...test.answers },
    answers_of: { ...shared.answers_of, ...test.answers_of },
    checks: { ...shared.checks, ...test.checks },
    handovers: { ...shared.handovers, ...test.handovers },
    fills: { ...shared.fills, ...test.fills },
    set: { ...shared.set, ...test.set },
    files: { ...shared.files, ...test.files },
  }));
}
