/** The values that an option may have in a file. Each schema says in its message what to write. */
import * as z from 'zod/mini';
import type { OptionSpec } from '../model/option.ts';
import { count, mapOf, someText } from '../parse/yaml-values.ts';
import { configKey } from './option-names.ts';

/** In a config file. */
export function optionSchema({ kind }: Pick<OptionSpec, 'kind'>): z.ZodMiniType {
  switch (kind) {
    case 'flag':
      return z.boolean('write true or false');
    case 'number':
      return z.number('write a number').check(z.nonnegative('write a number that is not negative'));
    case 'count':
      return z
        .int('write a whole number that is not negative')
        .check(z.nonnegative('write a whole number that is not negative'));
    case 'text':
      return z.string('write a text in quotes');
    case 'list':
      return z.array(z.string('write a list of texts'), 'write a list of texts');
  }
}

/** What a test may say of the options that make a difference for it, by their keys. */
export function testSettingsSchema(table: readonly OptionSpec[]) {
  const shape = table
    .filter(({ inTests }) => inTests)
    .map((spec) => [configKey(spec), z.optional(inTest(spec))] as const);
  return mapOf(Object.fromEntries(shape));
}

/** A switch is only mentioned to change it. YAML takes some words for numbers. */
function inTest({ kind, isDuration }: OptionSpec) {
  switch (kind) {
    case 'flag':
      return z.literal(true, 'true');
    case 'number': {
      const what = isDuration ? 'seconds' : 'an amount of USD';
      return z.number(what).check(z.nonnegative(what));
    }
    case 'count':
      return count;
    case 'text':
    case 'list':
      return someText;
  }
}
