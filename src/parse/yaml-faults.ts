/** The messages for faults in a YAML file, for all readers. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import type { Diagnostic } from '../model/diagnostic.ts';
import { clip } from './clip.ts';
import { nearest, suggestion } from './nearest.ts';
import { scalarText } from './yaml-text.ts';

type FaultText = Pick<Diagnostic, 'code' | 'message' | 'remedy' | 'nearest'>;

export function unknownKeyFault(key: string, known: readonly string[], where: string): FaultText {
  return {
    code: 'unknown-key',
    message: `${where} has no key "${clip(key)}".`,
    ...suggestion(nearest(key, known), `The keys are ${known.join(', ')}.`),
  };
}

export function mismatchFault(what: string, expected: string, node: Node | null): FaultText {
  return {
    code: 'bad-value',
    message: `${what} must be ${expected}, but it is ${describeNode(node)}.`,
    remedy: `Write ${expected}.`,
  };
}

export function missingFault(what: string, expected: string): FaultText {
  return { code: 'missing', message: `${what} is missing: it must be ${expected}.` };
}

function describeNode(node: Node | null): string {
  if (isMap(node)) return 'a map';
  if (isSeq(node)) return 'a list';
  if (!isScalar(node) || node.value === null) return 'empty';
  const text = clip(scalarText(node) ?? '');
  return typeof node.value === 'string' ? `the text "${text}"` : text;
}
