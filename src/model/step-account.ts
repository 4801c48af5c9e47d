/** What a step leaves besides its answer. What nobody tells is absent. */
import * as z from 'zod/mini';

const text = z.string();
const count = z.int().check(z.nonnegative());

/** What a step used of a model. */
const usageSchema = z.object({
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
});

/**
 * What a step cost.
 * - `told`: whoever charges for it said so, or nobody charges.
 * - `priced`: computed from tokens that were told, with a table of prices.
 * - `estimated`: computed from what was seen of a step that was cut short.
 */
const costSchema = z.object({
  usd: z.number().check(z.nonnegative()),
  from: z.enum(['told', 'priced', 'estimated']),
});

/** Every step has an account, however it ended. */
export const accountSchema = z.object({
  cost: costSchema,
  usage: z.optional(usageSchema),
  /** The session as the step left it, with the message at which it can be branched. Absent for scripts. */
  session: z.optional(z.object({ id: text, checkpoint: z.optional(text) })),
  /** The files of the step's directory, as the id under which they are kept. */
  tree: z.optional(text),
});

/**
 * Refers to the text that decided a step: a prompt's final message, or a script's output. The record of
 * the step holds the text. Size and SHA-256 of its UTF-8 form tell whether it is still the same.
 */
export const answerRefSchema = z.object({ bytes: count, sha256: text });

export type Account = z.infer<typeof accountSchema>;
export type Cost = z.infer<typeof costSchema>;
export type Usage = z.infer<typeof usageSchema>;
export type AnswerRef = z.infer<typeof answerRefSchema>;

/** For what nobody charges. */
export const NO_COST: Cost = { usd: 0, from: 'told' };
