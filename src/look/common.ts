/**
 * The shapes of the API. Every request and response is checked by these schemas, and the OpenAPI
 * document and the types of the page come from them. Absent values are null, times are ISO 8601.
 */
import * as z from 'zod/mini';

export const text = z.string();
export const count = z.int().check(z.nonnegative());
export const usd = z.number().check(z.nonnegative());
/** Beside an amount. */
export const isEstimate = z
  .optional(z.literal(true))
  .check(z.describe('A part of the cost was computed with a table of prices.'));
export const time = z.iso.datetime();
export const orNull = <T extends z.ZodMiniType>(schema: T) => z.nullable(schema);
export const listOf = <T extends z.ZodMiniType>(schema: T) => z.readonly(z.array(schema));

/** Text that may be shortened. */
export const boundedText = z
  .object({
    text,
    omitted: count.check(z.describe('The number of characters that were left out; 0 if none.')),
  })
  .check(z.describe('A text, or the part of a long text that fits.'));

export const problem = z.object({
  code: text,
  message: text.check(z.describe('What is wrong.')),
  remedy: text.check(z.describe('What to do about it.')),
});

export const errorBody = z.object({ error: problem });

export type ErrorBody = z.infer<typeof errorBody>;
