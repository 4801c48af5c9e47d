/** The values in the YAML files of Raymond. The message of each schema names the expected value. */
import * as z from 'zod/mini';

/** YAML reads 42 and yes as other types. Where a text is expected, the author meant a text. */
export const someText = z.pipe(
  z.union([z.string(), z.number(), z.boolean()], 'a text'),
  z.transform(String),
);

export const usd = z.number('an amount of USD').check(z.nonnegative('an amount of USD'));

export const count = z
  .int('a whole number that is not negative')
  .check(z.nonnegative('a whole number that is not negative'));

/** A map with these keys and no others. */
export function mapOf<T extends z.core.$ZodShape>(shape: T) {
  const keys = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? keys : `a map with ${keys}`),
  });
}
