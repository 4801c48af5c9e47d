import type * as z from 'zod/mini';
import type { Diagnostic } from '../model/diagnostic.ts';
import { YamlReader } from './yaml-reader.ts';

type CheckedYaml<T> =
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
  const reader = new YamlReader(file, text);
  const value = reader.errorCount() > 0 ? undefined : reader.value(reader.root, WHOLE);
  if (reader.errorCount() === 0) {
    const read = schema.safeParse(value ?? {});
    if (read.success) return { ok: true, value: read.data };
    const issues = read.error.issues.slice(0, MOST_FAULTS).flatMap(innermost);
    for (const issue of issues) report(reader, issue);
  }
  // An unknown key often explains why another key is missing.
  const [first = { ...UNCLEAR, file }, ...more] = reader
    .takeFaults()
    .toSorted((a, b) => weight(a) - weight(b));
  return { ok: false, faults: [first, ...more] };
}

const WHOLE = 'This file';

const UNCLEAR = {
  severity: 'error',
  code: 'bad-value',
  line: 1,
  column: 1,
  message: `${WHOLE} cannot be read.`,
} as const;

/** More faults would not help the author. */
const MOST_FAULTS = 100;

type Issue = z.core.$ZodIssue;

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

function report(reader: YamlReader, issue: Issue): void {
  const item = reader.itemAt(issue.path);
  const name = issue.path.reduce<string>(joined, '') || WHOLE;
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys.slice(0, MOST_FAULTS)) {
      const field = reader.fieldIn(item, key) ?? { ...item, key, keyOffset: item.offset };
      // The message of an object schema lists its keys.
      reader.unknownKey(field, issue.message.split(', '), name, 'error');
    }
  } else if (reader.isEmpty(item)) reader.missing(item, name, issue.message);
  else reader.mismatch(item, name, issue.message);
}

const joined = (name: string, key: PropertyKey): string =>
  typeof key === 'number'
    ? `${name}[${key + 1}]`
    : name === ''
      ? String(key)
      : `${name}.${String(key)}`;

const weight = ({ code }: Diagnostic) => (code === 'unknown-key' ? 0 : 1);
