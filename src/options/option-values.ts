/** Reads the value of an option as a user writes it. */
import type { OptionSpec } from '../model/option.ts';
import { readDuration } from '../parse/transition.ts';
import { wrongUsage } from './wrong-usage.ts';

/** Reads a value from the command line. */
export function readOption(spec: OptionSpec, text: string): number | string | readonly string[] {
  if (spec.hasAlternatives && text.includes(',')) {
    const parts = text.split(',').map((part) => part.trim());
    if (parts.includes(''))
      throw wrongUsage(`--${spec.name} is "${text}".`, 'Write names with commas between them.');
    return [...new Set(parts.map((part) => String(readOption(spec, part))))];
  }
  const problem = optionProblem(spec, text);
  if (problem) throw wrongUsage(`--${spec.name} is "${text}".`, asRemedy(problem));
  if (spec.isDuration) return (readDuration(text) ?? 0) / 1000;
  return spec.kind === 'number' || spec.kind === 'count' ? Number(text) : text;
}

/** Why a value is wrong, as a remedy; undefined when it is valid. */
export function optionProblem(spec: OptionSpec, text: string): string | undefined {
  if (spec.isDuration)
    return readDuration(text) === undefined ? 'write seconds, or a time like 10m' : undefined;
  if (spec.kind === 'number' && !/^\d+(\.\d+)?$/.test(text))
    return spec.placeholder === 'usd'
      ? 'write an amount in US dollars, without a sign or unit'
      : 'write a number that is not negative';
  if (spec.kind === 'count' && !/^\d{1,9}$/.test(text))
    return 'write a whole number that is not negative';
  if (spec.isPositive && Number(text) === 0) return 'write 1 or more';
  return spec.check?.(text);
}

/** The remedy as a sentence, with an example if there is one. */
export function asRemedy(problem: string, example?: string): string {
  const text = problem.charAt(0).toUpperCase() + problem.slice(1);
  if (text.endsWith('?')) return text;
  return example === undefined ? `${text}.` : `${text}, like ${example}.`;
}
