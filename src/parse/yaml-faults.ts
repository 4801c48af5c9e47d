/** What is said of a fault in a YAML file, whichever reader has found it. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import type { Diagnostic } from '../model/diagnostic.ts';
import { clip } from './clip.ts';
import { nearest } from './nearest.ts';
import { scalarText } from './yaml-text.ts';

type Said = Pick<Diagnostic, 'code' | 'message' | 'remedy' | 'nearest'>;

export function unknownKeyFault(key: string, known: readonly string[], where: string): Said {
  const meant = nearest(key, known);
  const fault = { code: 'unknown-key', message: `${where} has no key "${clip(key)}".` };
  return meant === undefined
    ? { ...fault, remedy: `The keys are ${known.join(', ')}.` }
    : { ...fault, remedy: `Did you mean ${meant}?`, nearest: meant };
}

export function mismatchFault(what: string, expected: string, node: Node | null): Said {
  return {
    code: 'bad-value',
    message: `${what} must be ${expected}, but here is ${describeNode(node)}.`,
    remedy: `Write ${expected}.`,
  };
}

function describeNode(node: Node | null): string {
  if (isMap(node)) return 'a map';
  if (isSeq(node)) return 'a list';
  if (!isScalar(node) || node.value === null) return 'nothing';
  const text = clip(scalarText(node) ?? '');
  return typeof node.value === 'string' ? `the text "${text}"` : text;
}
