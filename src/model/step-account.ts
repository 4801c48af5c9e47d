/**
 * The account of a step: everything that it leaves behind besides its answer. Unknown values are
 * absent.
 */
import * as z from 'zod/mini';
import { noteChangesSchema } from './notes.ts';
import { refusalSchema, usedRightSchema } from './rights.ts';

const text = z.string();
const count = z.int().check(z.nonnegative());

/** The tokens of a step. */
export const usageSchema = z.object({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
});

/**
 * The cost of a step.
 * - `told`: the service that charges for it reported it, or it is free.
 * - `priced`: computed from reported tokens and a table of prices.
 * - `estimated`: computed from the visible part of a step that was cut short.
 */
const costSchema = z.object({
  usd: z.number().check(z.nonnegative()),
  from: z.enum(['told', 'priced', 'estimated']),
});

/** The prints of a step, up to a limited length. */
const printedSchema = z.object({
  /** All prints, in order. Each one begins a line. */
  text,
  /** The number of characters beyond the limit. */
  omitted: z.optional(count),
});

/** Every step has an account, for every kind of end. */
export const accountSchema = z.object({
  cost: costSchema,
  usage: z.optional(usageSchema),
  /** The model that answered, as the agent names it. Absent for scripts, and if the agent does not say. */
  model: z.optional(text),
  /** The tokens of the session's history at the end of the step, with everything that a model saw. */
  contextTokens: z.optional(count),
  /**
   * The session at the end of the step, with the message at which it can be branched. Absent for
   * scripts.
   */
  session: z.optional(z.object({ id: text, checkpoint: z.optional(text) })),
  /** The id of the stored files of the step's directory. */
  tree: z.optional(text),
  /** The notes that it changed; absent if it changed none. */
  notes: z.optional(noteChangesSchema),
  /** Absent if the step printed nothing. */
  printed: z.optional(printedSchema),
  /** Warnings for the user about the step; absent if there are none. */
  warnings: z.optional(z.readonly(z.array(text))),
  /** What the sandbox refused; absent if nothing is known. */
  refused: z.optional(z.readonly(z.array(refusalSchema))),
  /** What it changed and reached, in a run that learns rights. */
  used: z.optional(z.readonly(z.array(usedRightSchema))),
});

/**
 * Refers to the text that decided a step: the final message of a prompt, or the output of a script. The
 * record of the step contains the text. The size and SHA-256 of its UTF-8 form show whether it has
 * changed.
 */
export const answerRefSchema = z.object({ bytes: count, sha256: text });

export type Account = z.infer<typeof accountSchema>;
export type Cost = z.infer<typeof costSchema>;
export type Usage = z.infer<typeof usageSchema>;
export type Printed = z.infer<typeof printedSchema>;
export type AnswerRef = z.infer<typeof answerRefSchema>;

/** The cost of a step that is free. */
export const NO_COST: Cost = { usd: 0, from: 'told' };
