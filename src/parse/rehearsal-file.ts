/** The files in which a user plays the agent: the answers of a rehearsal or a test. */
import * as z from 'zod/mini';
import { type Failure, failureSchema } from '../model/failure.ts';
import { readDuration } from './transition.ts';
import { count, mapOf, someText, usd } from './yaml-values.ts';

const failureKinds = failureSchema.shape.kind.options;

const duration = z
  .string('a time like 30m')
  .check(z.refine((text) => readDuration(text) !== undefined, 'a time like 30m'));

const textAnswerSchema = mapOf({
  text: someText,
  cost: z.optional(usd),
  denied: z.optional(z.array(someText, 'a list of tools')),
  /** The size of the session after the step. */
  tokens: z.optional(count),
  /** How long the step takes, on the clock of a test. A rehearsal does not wait. */
  takes: z.optional(duration),
  /** A command that does the work of the step, in the directory of its agent. A rehearsal executes none. */
  does: z.optional(someText),
});

export const failureAnswerSchema = mapOf({
  failure: z.enum(failureKinds, `one of ${failureKinds.join(', ')}`),
  message: z.optional(someText),
  cost: z.optional(usd),
});

const answerSchema = z.union(
  [someText, textAnswerSchema, failureAnswerSchema],
  'a text, {text: …} or {failure: …}',
);

export const answersSchema = z.record(
  z.string(),
  z.union(
    [
      answerSchema,
      z.array(answerSchema, 'a list of answers').check(z.minLength(1, 'at least one answer')),
    ],
    'an answer or a list of answers',
  ),
  'a map of states to answers',
);

/** The answers of single agents. They do not depend on the order of parallel agents. */
export const answersOfSchema = z.record(z.string(), answersSchema, 'a map of agents to answers');

const checkSchema = z.union(
  [count, mapOf({ exit: count, output: z.optional(someText) })],
  'an exit code or {exit: …, output: …}',
);

/** The outcomes of the commands of `ensures`, by command. */
export const checksSchema = z.record(
  z.string(),
  z.union(
    [
      checkSchema,
      z.array(checkSchema, 'a list of exit codes').check(z.minLength(1, 'at least one exit code')),
    ],
    'an exit code or a list of exit codes',
  ),
  'a map of commands to exit codes',
);

const valuesSchema = z.record(z.string(), someText, 'a map of placeholders to texts');

/** What models write into placeholders without a value, by state. */
export const fillsSchema = z.record(
  z.string(),
  z.union(
    [
      valuesSchema,
      z.array(valuesSchema, 'a list of maps').check(z.minLength(1, 'at least one map')),
    ],
    'a map of placeholders to texts, or a list of such maps',
  ),
  'a map of states to values',
);

export const repliesSchema = z.array(someText, 'a list of texts');

export const rehearsalSchema = mapOf({
  answers: z.optional(answersSchema),
  answers_of: z.optional(answersOfSchema),
  checks: z.optional(checksSchema),
  handovers: z.optional(answersSchema),
  fills: z.optional(fillsSchema),
  replies: z.optional(repliesSchema),
});

export type Answer = z.output<typeof answerSchema>;
type Checks = z.output<typeof checksSchema>;
export type Rehearsal = z.output<typeof rehearsalSchema>;

/** One execution of a state. */
export interface Execution {
  readonly state: string;
  readonly agent: string;
  /** Its number among the executions of the state by all agents, from 1. */
  readonly number: number;
  /** The same for the executions by this agent. */
  readonly ofAgent: number;
}

/** The answer for an execution: that of the agent, or else that of the state. A last one repeats. */
export function answerFor(
  { answers, answers_of }: Pick<Rehearsal, 'answers' | 'answers_of'>,
  { state, agent, number, ofAgent }: Execution,
): Answer | undefined {
  const ofThisAgent = inTurn(named(own(answers_of, agent), state), ofAgent);
  return ofThisAgent ?? inTurn(named(answers, state), number);
}

/** The answer of a step that writes a text: that of the file, or else an invented one. */
export function writtenFor(
  { handovers, fills }: Pick<Rehearsal, 'handovers' | 'fills'>,
  writes: Writes,
  { state, number }: Pick<Execution, 'state' | 'number'>,
): Answer {
  if (writes.kind === 'handover')
    return inTurn(named(handovers, state), number) ?? `(the handover of ${state})`;
  const given = inTurn(named(fills, state), number);
  const values = writes.names.map((name) => [name, own(given, name) ?? `(${name})`]);
  return JSON.stringify(Object.fromEntries(values));
}

type Writes =
  | { readonly kind: 'handover' }
  | { readonly kind: 'fill'; readonly names: readonly string[] };

/** With its extension or without it. */
function named<T>(answers: Readonly<Record<string, T>> | undefined, state: string): T | undefined {
  return own(answers, state) ?? own(answers, state.replace(/\.[^.]+$/, ''));
}

function inTurn<T>(answers: T | T[] | undefined, execution: number): T | undefined {
  return Array.isArray(answers) ? answers[Math.min(execution, answers.length) - 1] : answers;
}

/** The outcome for an execution of a command, counted from 1; the last one of a list repeats. */
export function checkFor(
  checks: Checks | undefined,
  command: string,
  execution: number,
): { readonly exit: number; readonly output?: string | undefined } | undefined {
  const given = checks && Object.hasOwn(checks, command) ? checks[command] : undefined;
  const found = Array.isArray(given) ? given[Math.min(execution, given.length) - 1] : given;
  return typeof found === 'number' ? { exit: found } : found;
}

/** A state may have the name `constructor`, which every object has. */
function own<T>(answers: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return answers && Object.hasOwn(answers, name) ? answers[name] : undefined;
}

/** A failure that a user wrote, with a default message. */
export function writtenFailure({
  failure: kind,
  message,
}: {
  readonly failure: Failure['kind'];
  readonly message?: string | undefined;
}): Failure {
  return { kind, message: message ?? `This step was made to fail: ${kind}.` };
}
