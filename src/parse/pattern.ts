/**
 * Patterns run on text that an agent wrote, so their engine must take time linear in the text, for any
 * pattern and any text. This excludes lookaround and backreferences.
 */
import { RE2JS } from 're2js';

interface PatternProblem {
  readonly message: string;
  readonly remedy: string;
}

/** Why a text cannot be a pattern of evaluators or of schemas; undefined when it can. */
export function patternProblem(
  written: string,
  user: 'evaluators' | 'schemas' = 'evaluators',
): PatternProblem | undefined {
  if (written.length > LONGEST) return TOO_LARGE;
  if (hasNamedReference(written)) return unsupported('\\k', user);
  try {
    return compile(written).programSize() > LARGEST_PROGRAM ? TOO_LARGE : undefined;
  } catch (error) {
    const [, reason = '', part = ''] = /regexp: ([^`]*): `(.*)`$/s.exec(String(error)) ?? [];
    return unsupported(part, user) ?? malformed(reason || 'it is not a regular expression', part);
  }
}

/** Whether a text contains a match. The pattern must be valid. */
export function isFound(pattern: string, text: string): boolean {
  return compile(pattern).test(text);
}

/** A pattern for many texts, and the number of its instructions. */
export function compiledPattern(pattern: string) {
  const compiled = compile(pattern);
  return { size: compiled.programSize(), isFound: (text: string) => compiled.test(text) };
}

/** The engine spends time for each instruction on each character. This limits the worst pattern. */
const LARGEST_PROGRAM = 1_000;
const LONGEST = 1_000;

const TOO_LARGE: PatternProblem = {
  message: 'The pattern is too large: matching it would take too long.',
  remedy: 'Shorten it, or use smaller numbers in {n}.',
};

/** All patterns are Unicode, so the flag u has no effect. */
function compile(written: string): RE2JS {
  const [prefix = '', letters = ''] = /^\(\?([imsu]+)\)/.exec(written) ?? [];
  const flags = letters.replaceAll('u', '');
  const pattern = written.slice(prefix.length);
  return RE2JS.compile((flags && `(?${flags})`) + RE2JS.translateRegExp(pattern));
}

/** The translation would read `\k` as the letter k. */
function hasNamedReference(written: string): boolean {
  return [...written.matchAll(/\\(.)/gs)].some(([, escaped]) => escaped === 'k');
}

function unsupported(part: string, user: 'evaluators' | 'schemas'): PatternProblem | undefined {
  const found = UNSUPPORTED.find(({ begin }) => begin.test(part));
  if (!found) return undefined;
  return {
    message: `The pattern has ${found.name}, which patterns of ${user} do not support.`,
    remedy:
      user === 'schemas'
        ? 'Rewrite the pattern without it, or use two patterns with allOf.'
        : 'Rewrite the pattern without it, or use two evaluators: the first that fires wins.',
  };
}

const UNSUPPORTED: readonly { readonly begin: RegExp; readonly name: string }[] = [
  { begin: /^\(\?=/, name: 'a lookahead (?=…)' },
  { begin: /^\(\?!/, name: 'a negative lookahead (?!…)' },
  { begin: /^\(\?<=/, name: 'a lookbehind (?<=…)' },
  { begin: /^\(\?<!/, name: 'a negative lookbehind (?<!…)' },
  { begin: /^\(\?>/, name: 'an atomic group (?>…)' },
  { begin: /^\\[1-9]/, name: 'a backreference like \\1' },
  { begin: /^\\k/, name: 'a backreference \\k<…>' },
];

function malformed(reason: string, part: string): PatternProblem {
  return {
    message: `The pattern cannot be read: ${reason}${part && ` at ${part}`}.`,
    remedy: 'Correct it. Flags go at the start, like (?i).',
  };
}
