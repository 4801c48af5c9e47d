import { type Document, isAlias, isMap, isNode, isScalar, type Node, type ParsedNode } from 'yaml';
import type * as z from 'zod/mini';
import type { Diagnostic } from '../model/diagnostic.ts';
import { mismatchFault, unknownKeyFault } from './yaml-faults.ts';
import { readYamlText } from './yaml-text.ts';

export type CheckedYaml<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly faults: readonly [Diagnostic, ...Diagnostic[]] };

/**
 * Reads a YAML text by a schema, and reports each fault at its place in the author's file. The
 * messages of the schema name the expected value, for example "a text".
 */
export function readCheckedYaml<T extends z.ZodMiniType>(
  schema: T,
  file: string,
  text: string,
): CheckedYaml<z.output<T>> {
  const { document, contents, faults: syntax, aliases, position } = readYamlText(text);
  const at = (offset: number) => ({ file, ...position(offset) });
  const placed = syntax.map(({ offset, message, ...more }) => ({
    ...fault('yaml', message),
    ...more,
    ...at(offset),
  }));
  if (isFilled(placed)) return { ok: false, faults: placed };

  const value = valueIn(document);
  if ('problem' in value) {
    return { ok: false, faults: [{ ...fault('yaml', value.problem), ...at(0) }] };
  }
  const read = schema.safeParse(value.value ?? {});
  if (read.success) return { ok: true, value: read.data };
  const issues = read.error.issues.slice(0, MOST_FAULTS).flatMap(innermost);
  const faults = issues.flatMap((issue) => {
    const found = namedNodeAt(contents, issue.path);
    return faultsOf(issue, found, aliases).map(({ offset, ...fault }) => ({
      ...fault,
      ...at(offset),
    }));
  });
  // An unknown key often explains why another key is missing.
  faults.sort((a, b) => Number(b.code === 'unknown-key') - Number(a.code === 'unknown-key'));
  const unclear = { ...fault('bad-value', 'This file cannot be read.'), ...at(0) };
  return { ok: false, faults: isFilled(faults) ? faults : [unclear] };
}

/** More faults would not help the author. */
const MOST_FAULTS = 100;

/**
 * A few aliases to a large text can expand to more than fits into memory. The library has a limit.
 */
function valueIn(document: Document.Parsed | undefined) {
  try {
    return { value: document?.toJS() };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `This YAML cannot be read: ${why}.` };
  }
}

/** The node at a path of keys, with the name that messages use for it. */
interface NamedNode {
  readonly name: string;
  readonly node: ParsedNode | null;
  readonly offset: number;
}

type Issue = z.core.$ZodIssue;
type Fault = Omit<Diagnostic, 'file' | 'line' | 'column'> & { readonly offset: number };

/** If a value may have several forms, the author meant the form with the fewest faults inside. */
function innermost(issue: Issue): readonly Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [meant] = issue.errors
    .map((branch) => branch.flatMap(innermost))
    .filter((branch) => !branch.some(isWrongKind))
    .sort((a, b) => a.length - b.length);
  return meant?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })) ?? [issue];
}

function isWrongKind(issue: Issue): boolean {
  return issue.path.length === 0 && issue.code !== 'unrecognized_keys';
}

function faultsOf(
  issue: Issue,
  found: NamedNode,
  aliases: ReadonlyMap<Node, Node>,
): readonly Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, MOST_FAULTS).map((key) => unknownKey(key, knownKeys(issue), found));
  }
  const { name, node, offset } = found;
  if (node === null || (isScalar(node) && node.value === null)) {
    return [{ ...fault('missing', `${name} is missing: it must be ${issue.message}.`), offset }];
  }
  const meant = aliases.get(node) ?? node;
  return [{ severity: 'error', ...mismatchFault(name, issue.message, meant), offset }];
}

/** The message of an object schema lists its keys. */
function knownKeys(issue: Issue): readonly string[] {
  return issue.message.split(', ');
}

function unknownKey(
  key: string,
  known: readonly string[],
  { name, node, offset }: NamedNode,
): Fault {
  const pair = isMap(node)
    ? node.items.find((item) => isScalar(item.key) && item.key.value === key)
    : undefined;
  return {
    severity: 'error',
    ...unknownKeyFault(key, known, name),
    offset: pair && isNode(pair.key) ? (pair.key.range?.[0] ?? offset) : offset,
  };
}

function namedNodeAt(root: ParsedNode | null, path: readonly PropertyKey[]): NamedNode {
  let found: NamedNode = { name: 'This file', node: root, offset: root?.range[0] ?? 0 };
  for (const [index, key] of path.entries()) {
    const name = path.slice(0, index + 1).reduce<string>(joined, '');
    const node = childOf(found.node, key);
    const own = isAlias(node) ? undefined : node?.range;
    const offset = own && own[1] > own[0] ? own[0] : keyOffset(found.node, key, found.offset);
    found = { name, node, offset };
  }
  return found;
}

const joined = (name: string, key: PropertyKey): string =>
  typeof key === 'number'
    ? `${name}[${key + 1}]`
    : name === ''
      ? String(key)
      : `${name}.${String(key)}`;

function childOf(node: ParsedNode | null, key: PropertyKey): ParsedNode | null {
  if (!node || !('items' in node)) return null;
  const child = node.get(key, true);
  return isNode(child) ? (child as ParsedNode) : null;
}

function keyOffset(node: ParsedNode | null, key: PropertyKey, otherwise: number): number {
  if (!isMap(node)) return otherwise;
  const pair = node.items.find((item) => isScalar(item.key) && item.key.value === key);
  return (pair && isNode(pair.key) ? pair.key.range?.[0] : undefined) ?? otherwise;
}

function fault(code: string, message: string): Pick<Diagnostic, 'severity' | 'code' | 'message'> {
  return { severity: 'error', code, message };
}

function isFilled<T>(list: readonly T[]): list is readonly [T, ...T[]] {
  return list.length > 0;
}
