/**
 * The messages of a step, in a form that is independent of the agent. The executor of an agent
 * translates its own records. Long texts are shortened, and say so.
 */
import * as z from 'zod/mini';

const text = z.string();
const count = z.int().check(z.nonnegative());

/** `omitted` is the number of characters that were left out. */
const bounded = { text, omitted: count };

/** In ms since the epoch. Not every agent says when something happened. */
const at = z.optional(count);

/** The longest text of a message. */
export const MOST_CHARACTERS = 20_000;

export const messageShape = z.discriminatedUnion('kind', [
  /** Words of the agent. */
  z.object({ kind: z.literal('text'), ...bounded }),
  z.object({ kind: z.literal('thinking'), ...bounded }),
  /** Words of a person, which the agent heard during its turn. */
  z.object({ kind: z.literal('person'), at, ...bounded }),
  /** `text` is the input of the tool as JSON; `summary` is one line about it. */
  z.object({
    kind: z.literal('tool-call'),
    id: text,
    name: text,
    summary: text,
    /** Whether the call was made by an agent that this agent started. */
    inner: z.boolean(),
    at,
    ...bounded,
  }),
  /** `call` is the id of the tool call. */
  z.object({
    kind: z.literal('tool-result'),
    call: text,
    failed: z.boolean(),
    inner: z.boolean(),
    at,
    ...bounded,
  }),
  /** An answer of the model is complete. Its cost is an estimate. */
  z.object({
    kind: z.literal('turn'),
    tokens_read: count,
    tokens_written: count,
    cost_usd: z.number().check(z.nonnegative()),
    at,
  }),
  /** A remark of the executor, such as a retry or a denied tool. `denies` is the id of that tool call. */
  z.object({ kind: z.literal('note'), denies: z.optional(text), ...bounded }),
  /** The output of a script. */
  z.object({ kind: z.literal('stdout'), ...bounded }),
  z.object({ kind: z.literal('stderr'), ...bounded }),
]);

export type StepMessage = z.infer<typeof messageShape>;
