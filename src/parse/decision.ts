/** Reads the decision of a person about a permission request. */
import type { DecisionKind, PermissionDecision, PermissionRequest } from '../model/permission.ts';

/** Undefined if the text is not a decision that the request offers. */
export function readDecision(
  text: string,
  { isQuestion, rules }: Pick<PermissionRequest, 'isQuestion' | 'rules'>,
): PermissionDecision | undefined {
  if (isQuestion) return { decision: 'answer', text };
  const [, written = '', message = ''] = /^\s*(\S+)(?:\s+([\s\S]*\S))?\s*$/.exec(text) ?? [];
  const word = WORDS.get(written);
  if (word === 'deny') return { decision: word, ...(message !== '' && { text: message }) };
  if (message !== '') return undefined;
  if (word === 'allow') return { decision: word };
  return word === 'allow-run' && rules ? { decision: word } : undefined;
}

/** A number always means the same, also where a request does not offer all of them. */
const WORDS: ReadonlyMap<string, DecisionKind> = new Map([
  ['allow', 'allow'],
  ['1', 'allow'],
  ['allow-run', 'allow-run'],
  ['2', 'allow-run'],
  ['deny', 'deny'],
  ['3', 'deny'],
]);

/** Whether a word is a decision, and therefore probably not the name of a run. */
export function isDecisionWord(word: string | undefined): boolean {
  return word === 'allow' || word === 'allow-run' || word === 'deny';
}
