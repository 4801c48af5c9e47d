/**
 * The JSON form of a run. Every program sees this form, with fields left out: `raymond list --json` and
 * `raymond show --json`, the API, the page, and the tools for orchestrating agents.
 */
import * as z from 'zod/mini';
import { READABLE_CONDITIONS } from '../model/condition.ts';
import { failureSchema } from '../model/failure.ts';
import { nowSchema } from '../model/now.ts';
import {
  boundedText,
  count,
  isEstimate,
  listOf,
  orNull,
  problem,
  text,
  time,
  usd,
} from './common.ts';

const variables = z.record(text, text);

const condition = text.check(
  z.describe('The status in the words of `raymond list`, such as `stopped: budget`.'),
);

const resultJson = z
  .optional(z.unknown())
  .check(z.describe('The result as JSON, if a schema has checked it and `result` has all of it.'));

/** The facts about a run that a list shows. */
const rowFields = {
  id: text,
  status: z.enum(READABLE_CONDITIONS),
  condition,
  workflow: text,
  started_at: time,
  updated_at: time,
  worked_ms: count.check(z.describe('The time in which at least one step ran.')),
  agents: z.object({
    running: count,
    waiting: count.check(z.describe('For a person, a time or other agents.')),
    failed: count,
    ended: count,
    failed_joined: count.check(
      z.describe('Those of `ended` that failed. A join has reported each of them.'),
    ),
  }),
  input: orNull(boundedText).check(z.describe('What it was started with.')),
  result: orNull(boundedText).check(z.describe('The result of its first agent.')),
  failure: orNull(boundedText).check(
    z.describe('Why the first of its failed agents failed. Null if none has.'),
  ),
  origin: orNull(
    z.object({
      run: text,
      agent: text,
      step: count.check(z.describe('It began at the moment before this step of that run.')),
      changes: variables.check(z.describe('What it changes, by the names of options.')),
      number: count.check(z.describe('Counts the repetitions of the same changes from 1.')),
    }),
  ).check(z.describe('The run of which it is a variant. Null if it is none.')),
  cell: orNull(
    z.object({
      eval: text.check(z.describe('The file of the eval.')),
      case: text,
      variant: orNull(text).check(z.describe('Null for the workflow as it is.')),
      number: count.check(z.describe('Counts the repetitions from 1.')),
      changes: variables.check(z.describe('What it changes, by the names of options.')),
      scores: orNull(z.object({ scorer: text, run: text })).check(
        z.describe('The run that it scores, and the scorer. Null for a run of a case.'),
      ),
    }),
  ).check(z.describe('Where it belongs in an eval. Null if no eval has begun it.')),
  steps: count.check(
    z.describe('All its steps, also reminders, retries, checks, judges, and abandoned ones.'),
  ),
  iterations: count.check(z.describe('Its starts of states, which `max_iterations` limits.')),
  cost_usd: usd,
  cost_is_estimate: isEstimate,
  budget_usd: usd.check(z.describe('0 is unlimited.')),
  questions: count.check(z.describe('The number of agents that wait for a person.')),
  permissions: count.check(z.describe('Those of them that wait for a permission.')),
  limited_until: orNull(time).check(z.describe('The last end of all usage limits.')),
  limits: z
    .array(
      z.object({
        agent: orNull(text).check(
          z.describe('Whose prompts wait. Null if those of all agents do.'),
        ),
        until: time,
      }),
    )
    .check(z.describe('The usage limits that agents have reached.')),
  rehearsal: z.boolean(),
  own: z
    .boolean()
    .check(z.describe('Whether you started it here. Other runs are resumed only with consent.')),
  doubt: z.optional(text).check(z.describe('Why it is not your own, if that is known.')),
  pid: orNull(count).check(z.describe('The process that works on it.')),
  position: count.check(z.describe('The sequence number of its newest event.')),
};

export const storedRow = z.object(rowFields);
/** A run that was started or resumed. */
export const launchedRow = z.object({
  ...rowFields,
  warnings: z
    .readonly(z.array(text))
    .check(z.describe('What the command line would show on standard error.')),
});

/** A run that cannot be read. */
export const damagedRow = z.object({
  id: text,
  status: z.literal('damaged'),
  condition,
  problem,
});

export const runRow = z.union([storedRow, damagedRow]);

export const runList = z.object({
  runs: listOf(runRow).check(z.describe('The newest first; damaged ones last.')),
});

/** A tool call that the agent may not make without a decision. */
export const permissionRequest = z.object({
  request: text,
  tool: text,
  summary: text.check(z.describe('The call on one line.')),
  input: text.check(z.describe('The arguments of the call, or its question.')),
  input_length: orNull(count).check(z.describe('The whole length, if `input` is its beginning.')),
  rules: orNull(listOf(text)).check(
    z.describe('The rules that `allow-run` grants; null if the call can be allowed only once.'),
  ),
  question: z.boolean().check(z.describe('The call asks you something: answer it with a text.')),
  asked_at: time,
  answered: z.boolean().check(z.describe('A decision is stored, but not used yet.')),
});

/** The status of an agent, with the data of that status. */
export const approvalShape = z.object({
  of: count.check(z.describe('How many people must sign the same answer.')),
  to: text.check(z.describe('The list of approvers on which they are.')),
  signed: listOf(z.object({ by: text, answer: text })),
});

/** A file that a run keeps. Its name comes from an agent or a person. */
export const fileShape = z.object({
  name: text,
  bytes: count,
  sha256: text.check(z.describe('Names its content in `/api/runs/{id}/files/{sha256}`.')),
});

export const filesOfQuestion = {
  files: listOf(fileShape).check(z.describe('The files that the question shows.')),
  accept: orNull(listOf(text)).check(
    z.describe('The endings of the files that an answer may bring; null for all.'),
  ),
  most_file_bytes: count.check(z.describe('What the files of an answer may have together.')),
};

export const agentStatus = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ready') }),
  z.object({
    kind: z.literal('running'),
    step: count,
    state: text.check(z.describe('The state whose text is executed: its own, or that of a judge.')),
    prompt: z.boolean(),
    since: time.check(z.describe('When it began, or came into the queue.')),
    queued: z.boolean().check(z.describe('It waits in a queue until a worker takes it.')),
    requests: listOf(permissionRequest).check(
      z.describe('The tool calls that wait for a decision.'),
    ),
  }),
  z.object({ kind: z.literal('waiting'), until: time, failure: failureSchema }),
  z.object({
    kind: z.literal('asking'),
    question: text,
    asked_at: time,
    deadline: orNull(time),
    approval: orNull(approvalShape),
    ...filesOfQuestion,
    answered: z.boolean().check(z.describe('An answer is stored, but not used yet.')),
  }),
  z.object({
    kind: z.literal('joining'),
    workers: listOf(text),
    open: count.check(z.describe('The number of child agents that still work.')),
    since: time,
    deadline: orNull(time),
  }),
  z.object({
    kind: z.literal('failed'),
    failure: failureSchema,
    joined: z.boolean().check(z.describe('A join has reported it, so no resume retries it.')),
  }),
  z.object({
    kind: z.literal('ended'),
    at: time,
    result: boundedText,
    result_json: resultJson,
  }),
  z.object({ kind: z.literal('stopped'), at: time, by: z.enum(['join', 'rewind']) }),
]);

const worktree = z.object({
  branch: text,
  path: orNull(text),
  commits: orNull(count),
  dirty: orNull(z.boolean()),
  fate: orNull(z.enum(['removing', 'removed', 'kept'])),
});

export const agentShape = z.object({
  id: text,
  parent: orNull(text),
  workflow: text,
  state: text,
  variables,
  cwd: orNull(text).check(z.describe('Null for agents that are over.')),
  session: orNull(text).check(z.describe('Its session. Null without one, and when it is over.')),
  stack: listOf(z.object({ state: text, workflow: text, cwd: text })).check(
    z.describe('Where its results go; the innermost caller last.'),
  ),
  steps: count.check(z.describe('The number of its steps, and of the newest one.')),
  attempts: count,
  cost_usd: usd,
  cost_is_estimate: isEstimate,
  worked_ms: count,
  born_at: time,
  worktree: orNull(worktree),
  words: z
    .optional(listOf(z.object({ text: boundedText, by: orNull(text), said_at: time })))
    .check(
      z.describe('What people said to it and it has not got yet. When it is over, it never will.'),
    ),
  status: agentStatus,
});

export const stateFigures = z.object({
  workflow: text,
  state: text,
  visits: count,
  steps: count,
  failures: count,
  worked_ms: count,
  cost_usd: usd,
  cost_is_estimate: isEstimate,
});

/** Several short parts of an agent's time may be one bar; `parts` counts them. */
export const timelineBar = z.object({
  kind: z.enum(['work', 'retry', 'limit', 'ask', 'join']),
  workflow: text,
  state: text.check(z.describe('If the bar has several parts, the state of the longest one.')),
  from: time,
  to: time,
  parts: count,
  step: orNull(count).check(z.describe('The step, if the bar is one step.')),
  prompt: z.boolean(),
  failed: count.check(z.describe('The number of its steps that failed.')),
  open: z.boolean().check(z.describe('Whether it is not over yet.')),
  cost_usd: usd,
  cost_is_estimate: isEstimate,
});

export const timelineShape = z.object({
  from: time,
  to: time,
  cuts: listOf(z.object({ from: time, to: time })).check(
    z.describe('Long rests in which no step ran.'),
  ),
  rows: listOf(z.object({ agent: text, bars: listOf(timelineBar) })).check(
    z.describe('The agents in the order of their creation.'),
  ),
  shortest_ms: count.check(
    z.describe('Shorter parts were merged, so that the number of bars is limited; 0 if none.'),
  ),
});

const { agents: counts, ...otherFields } = rowFields;

export const wholeRun = z.object({
  ...otherFields,
  counts,
  cwd: text,
  metadata: variables,
  started_by: orNull(text).check(
    z.describe('The occasion of a trigger that started the run. Null if a person did.'),
  ),
  max_iterations: count.check(z.describe('0 is unlimited.')),
  granted: listOf(text).check(z.describe('The rules that people have allowed for the run.')),
  rights: orNull(z.enum(['lifted', 'learned', 'limited'])).check(
    z.describe(
      'What its user says about rights: `--no-rights`, `--learn-rights`, or rights for all steps. Null if only the workflow decides.',
    ),
  ),
  result_json: resultJson,
  agents: listOf(agentShape).check(z.describe('In the order of their creation.')),
  states: listOf(stateFigures).check(z.describe('In the order of their first visits.')),
  timeline: timelineShape,
  notes: listOf(z.object({ path: text, bytes: count, agent: text, step: count })).check(
    z.describe('What its agents noted, without the texts: `raymond show --notes --json`.'),
  ),
  rewound: orNull(
    z.object({
      at: time,
      agent: text,
      step: count.check(z.describe('The run went back to the moment before it.')),
      steps: count.check(z.describe('The number of steps that no longer count.')),
      cost_usd: usd.check(z.describe('The cost of these steps.')),
    }),
  ).check(z.describe('The newest rewind, if it can be undone.')),
  now: orNull(nowSchema).check(z.describe('What the agents do at this moment.')),
});

export type PermissionShape = z.infer<typeof permissionRequest>;
export type AgentStatusShape = z.infer<typeof agentStatus>;
export type AgentShape = z.infer<typeof agentShape>;
export type StateFigures = z.infer<typeof stateFigures>;
export type TimelineBar = z.infer<typeof timelineBar>;
export type TimelineShape = z.infer<typeof timelineShape>;
export type WholeRun = z.infer<typeof wholeRun>;
export type StoredRow = z.infer<typeof storedRow>;
export type RunRow = z.infer<typeof runRow>;
