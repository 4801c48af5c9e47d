/** The values that an option may have in a file. The message of each schema is a remedy. */
import * as z from 'zod/mini';
import type { OptionSpec } from '../model/option.ts';
import { SECONDS, USD } from '../parse/yaml-numbers.ts';
import { count, mapOf, numberOf, someText } from '../parse/yaml-values.ts';
import { configKey } from './option-names.ts';
import { optionProblem } from './option-values.ts';

/** Why a value in a file is wrong, as a remedy; undefined when it is valid. */
export function valueProblem(spec: OptionSpec, value: unknown): string | undefined {
  const [wrong] = optionSchema(spec).safeParse(value).error?.issues ?? [];
  if (wrong) return wrong.message;
  if (spec.kind === 'list' || spec.kind === 'flag') return undefined;
  const problems = [value].flat().flatMap((one) => optionProblem(spec, String(one)) ?? []);
  return problems[0];
}

/** The schema of an option in a config file. */
export function optionSchema({
  kind,
  hasAlternatives,
}: Pick<OptionSpec, 'kind' | 'hasAlternatives'>): z.ZodMiniType {
  if (hasAlternatives) return z.union([z.string(), alternatives], ALTERNATIVES);
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

const ALTERNATIVES = 'write a text in quotes, or a list of texts';
const alternatives = z
  .array(z.string().check(z.minLength(1, ALTERNATIVES)))
  .check(z.minLength(1, ALTERNATIVES));

/** The schema of the settings of a test, by their keys. */
export function testSettingsSchema(table: readonly OptionSpec[]) {
  const shape = table
    .filter(({ inTests }) => inTests)
    .map((spec) => [configKey(spec), z.optional(inTest(spec))] as const);
  return mapOf(Object.fromEntries(shape));
}

/** A test names a switch only to change it. YAML reads some words as numbers. */
function inTest({ kind, isDuration, hasAlternatives }: OptionSpec) {
  if (hasAlternatives) return z.union([someText, z.array(someText)], 'a text, or a list of texts');
  switch (kind) {
    case 'flag':
      return z.literal(true, 'true');
    case 'number':
      return numberOf(isDuration ? SECONDS : USD);
    case 'count':
      return count;
    case 'text':
    case 'list':
      return someText;
  }
}
