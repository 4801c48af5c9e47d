/**
 * Patterns run on text that an agent wrote, so their engine needs time that is linear in the text,
 * whatever both contain. That rules out lookaround and backreferences.
 */
import { RE2JS } from 're2js';

export interface PatternProblem {
  readonly message: string;
  readonly remedy: string;
}

/** Why a text cannot be a pattern; undefined when it can. */
export function patternProblem(written: string): PatternProblem | undefined {
  if (written.length > LONGEST) return TOO_LARGE;
  if (hasNamedReference(written)) return unsupported('\\k');
  try {
    return compile(written).programSize() > LARGEST_PROGRAM ? TOO_LARGE : undefined;
  } catch (error) {
    const [, reason = '', part = ''] = /regexp: ([^`]*): `(.*)`$/s.exec(String(error)) ?? [];
    return unsupported(part) ?? malformed(reason || 'it is not a regular expression', part);
  }
}

/** Whether a pattern is found anywhere in a text. Only for one without a problem. */
export function isFound(pattern: string, text: string): boolean {
  return compile(pattern).test(text);
}

/** The engine pays for each character once per instruction, so the worst pattern stays bearable. */
const LARGEST_PROGRAM = 1_000;
const LONGEST = 1_000;

const TOO_LARGE: PatternProblem = {
  message: 'The pattern is too large: it would take long to find it in a text.',
  remedy: 'Shorten it, or repeat less often what stands before {n}.',
};

/** All patterns are Unicode, so that the flag u says nothing. */
function compile(written: string): RE2JS {
  const [prefix = '', letters = ''] = /^\(\?([imsu]+)\)/.exec(written) ?? [];
  const flags = letters.replaceAll('u', '');
  const pattern = written.slice(prefix.length);
  return RE2JS.compile((flags && `(?${flags})`) + RE2JS.translateRegExp(pattern));
}

/** The translation would take it for the letter. */
function hasNamedReference(written: string): boolean {
  return [...written.matchAll(/\\(.)/gs)].some(([, escaped]) => escaped === 'k');
}

function unsupported(part: string): PatternProblem | undefined {
  const found = UNSUPPORTED.find(({ begin }) => begin.test(part));
  if (!found) return undefined;
  return {
    message: `The pattern has ${found.name}, which patterns of evaluators do not support.`,
    remedy: 'Write it without, or use two evaluators; the first that fires wins.',
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
    remedy: 'Correct it; flags stand in front, like (?i).',
  };
}
