/** The values in the YAML files of Raymond. The message of each schema names the expected value. */
import * as z from 'zod/mini';
import { COUNT, type NumberKind, USD } from './yaml-numbers.ts';

/** YAML reads 42 and yes as other types. Where a text is expected, the author meant a text. */
export const someText = z.pipe(
  z.union([z.string(), z.number(), z.boolean()], 'a text'),
  z.transform(String),
);

export const usd = numberOf(USD);
export const count = numberOf(COUNT);

export function numberOf({ expected, isWhole, least }: NumberKind) {
  return (isWhole ? z.int(expected) : z.number(expected)).check(z.gte(least, expected));
}

/** A map with these keys and no others. */
export function mapOf<T extends z.core.$ZodShape>(shape: T) {
  const keys = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? keys : `a map with ${keys}`),
  });
}
