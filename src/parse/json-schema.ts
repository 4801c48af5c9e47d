/**
 * Reads a JSON Schema (draft 2020-12, without the keywords that need more than one pass). A schema that Raymond
 * does not understand fully is refused, because a keyword without effect would be a check that never happens.
 */
import { isJsonObject, type Json } from '../model/json.ts';
import type { JsonSchema, PayloadSchema } from '../model/workflow.ts';
import { clip } from './clip.ts';
import { valueAt } from './json.ts';
import { nearest } from './nearest.ts';
import { patternProblem } from './pattern.ts';

export interface SchemaFault {
  /** The keys and positions that lead to it. */
  readonly path: readonly string[];
  readonly message: string;
  readonly remedy?: string | undefined;
  /** The schema can be used nevertheless. */
  readonly isHarmless?: boolean;
}

/** A document with its schemas, by JSON pointer. */
export interface SchemaDocument {
  readonly root: JsonSchema;
  readonly schemas: ReadonlyMap<string, JsonSchema>;
  /** The references in it. */
  readonly refs: readonly SchemaRef[];
  readonly faults: readonly SchemaFault[];
}

interface SchemaRef {
  readonly path: readonly string[];
  readonly written: string;
}

/** Reads one document by itself. `refFaults` checks the references. */
export function readSchemaDocument(value: Json): SchemaDocument {
  const schemas = new Map<string, JsonSchema>();
  const refs: SchemaRef[] = [];
  const faults: SchemaFault[] = [];
  const fault = (path: readonly string[], message: string, remedy?: string) => {
    if (faults.length < MOST_FAULTS) faults.push({ path, message, remedy });
  };
  const visit = (path: readonly string[], schema: Json | undefined): void => {
    if (schemas.size >= MOST_SCHEMAS) {
      if (faults.length === 0)
        fault(path, `The schema has more than ${MOST_SCHEMAS} parts.`, 'Make it smaller.');
      return;
    }
    if (!isSchema(schema)) {
      fault(path, 'A schema must be a map, true or false.');
      return;
    }
    schemas.set(pointerOf(path), schema);
    if (typeof schema === 'boolean') return;
    for (const [keyword, inner] of Object.entries(schema)) {
      const at = [...path, keyword];
      const kind = KEYWORDS.get(keyword);
      if (kind === undefined) {
        const meant = INSTEAD.get(keyword) ?? nearest(keyword, [...KEYWORDS.keys()]);
        const remedy = meant ? `Did you mean ${meant}?` : 'Remove it.';
        const more = INSTEAD.has(keyword) ? `Use ${meant}.` : remedy;
        fault(at, `Raymond does not know the keyword "${clip(keyword)}".`, more);
        continue;
      }
      const { expected, isOne } = KINDS[kind];
      if (!isOne(inner)) {
        fault(at, `${keyword} must be ${expected}.`, OLD_FORMS.get(keyword));
        continue;
      }
      if (keyword === 'format') {
        const message = 'Raymond does not check format.';
        faults.push({ path: at, message, remedy: 'Use pattern.', isHarmless: true });
      }
      if (keyword === '$id' && path.length > 0)
        fault(at, 'Only the whole document may have an $id.', 'Refer to it with #/….');
      if (kind === 'pattern') checkPattern(at, String(inner), fault);
      if (kind === 'ref') refs.push({ path: at, written: String(inner) });
      if (kind === 'schema') visit(at, inner);
      for (const [key, one] of schemasIn(kind, inner)) {
        if (keyword === 'patternProperties') checkPattern([...at, key], key, fault);
        visit([...at, key], one);
      }
    }
  };
  visit([], value);
  const root = isSchema(value) ? value : true;
  return { root, schemas, refs, faults };
}

function schemasIn(kind: keyof typeof KINDS, inner: Json): readonly (readonly [string, Json])[] {
  if (kind === 'schemas') return isJsonObject(inner) ? Object.entries(inner) : [];
  if (kind !== 'list of schemas' || !Array.isArray(inner)) return [];
  return inner.map((one, index) => [String(index), one]);
}

const MOST_FAULTS = 20;
/** Checking a value visits each of them at least once for some part of it. */
const MOST_SCHEMAS = 5_000;

function checkPattern(
  path: readonly string[],
  pattern: string,
  fault: (path: readonly string[], message: string, remedy: string) => void,
): void {
  const problem = patternProblem(pattern, 'schemas');
  if (problem) fault(path, problem.message, problem.remedy);
}

/** The references that lead nowhere, or back to themselves. Documents have the names of their files. */
export function refFaults(
  documents: ReadonlyMap<string, SchemaDocument>,
): ReadonlyMap<string, readonly SchemaFault[]> {
  const loops = loopsIn(documents);
  return new Map([...documents].map(([file]) => [file, faultsOfRefs(file, documents, loops)]));
}

function faultsOfRefs(
  file: string,
  documents: ReadonlyMap<string, SchemaDocument>,
  loops: ReadonlySet<string>,
): readonly SchemaFault[] {
  const { refs = [] } = documents.get(file) ?? {};
  return refs.flatMap(({ path, written }): readonly SchemaFault[] => {
    const target = readRef(file, written);
    const message = `$ref is "${clip(written)}", `;
    if (target === undefined) {
      const remedy =
        'Refer to a part of the document, like #/$defs/file, or to a file of the workflow, like other.schema.json.';
      return [
        { path, message: `${message}which is neither in the workflow nor a JSON pointer.`, remedy },
      ];
    }
    if (!documents.get(target.file)?.schemas.has(target.pointer)) {
      return [
        { path, message: `${message}but there is no schema.`, remedy: 'Correct the reference.' },
      ];
    }
    if (!loops.has(`${file}#${pointerOf(path.slice(0, -1))}`)) return [];
    return [
      {
        path,
        message: `${message}which leads back to itself without an end.`,
        remedy: 'Put it under properties or items.',
      },
    ];
  });
}

/** The file and the JSON pointer that a reference names. Nothing else is ever read. */
export function readRef(
  from: string,
  written: string,
): { readonly file: string; readonly pointer: string } | undefined {
  const [, file = '', fragment = ''] = /^(?:\.\/)?([^#/\\:]*)(?:#(.*))?$/s.exec(written) ?? [];
  const isOwn = written.startsWith('#');
  if (!isOwn && !isSchemaFile(file)) return undefined;
  if (fragment !== '' && !fragment.startsWith('/')) return undefined;
  try {
    return { file: isOwn ? from : file, pointer: decodeURIComponent(fragment) };
  } catch {
    return undefined;
  }
}

/** The schema that a reference in a file names, with its file. */
export function schemaAt(
  documents: PayloadSchema['documents'],
  from: string,
  written: string,
): { readonly file: string; readonly schema: JsonSchema } | undefined {
  const target = readRef(from, written);
  const document = target && documents[target.file];
  if (document === undefined) return undefined;
  const keys = target?.pointer.split('/').slice(1).map(unescaped) ?? [];
  const schema = valueAt(document, keys);
  return target && isSchema(schema) ? { file: target.file, schema } : undefined;
}

const unescaped = (key: string) => key.replaceAll('~1', '/').replaceAll('~0', '~');

export const isSchema = (value: Json | undefined): value is JsonSchema =>
  typeof value === 'boolean' || isJsonObject(value);

/** Whether a file of a workflow is a JSON Schema. */
export function isSchemaFile(name: string): boolean {
  return name.endsWith('.schema.json') && !name.startsWith('.');
}

export function pointerOf(path: readonly string[]): string {
  return path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** The schemas that lead to themselves for one and the same value. Checking them would never end. */
function loopsIn(documents: ReadonlyMap<string, SchemaDocument>): ReadonlySet<string> {
  const left = new Map<string, readonly string[]>();
  for (const [file, { schemas }] of documents)
    for (const [pointer, schema] of schemas)
      left.set(`${file}#${pointer}`, inPlace(file, pointer, schema));
  // Removes schemas that lead only to removed ones, until only loops and the ways into them are left.
  const users = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const [id, targets] of left) {
    const known = targets.filter((target) => left.has(target));
    open.set(id, known.length);
    for (const target of known) {
      const others = users.get(target);
      if (others) others.push(id);
      else users.set(target, [id]);
    }
  }
  const done = [...open].flatMap(([id, count]) => (count === 0 ? [id] : []));
  for (const id of done) {
    open.delete(id);
    for (const user of users.get(id) ?? []) {
      const count = (open.get(user) ?? 0) - 1;
      open.set(user, count);
      if (count === 0) done.push(user);
    }
  }
  return new Set(open.keys());
}

/** The schemas that a schema applies to its own value. */
function inPlace(file: string, pointer: string, schema: JsonSchema): readonly string[] {
  if (typeof schema === 'boolean') return [];
  return Object.entries(schema).flatMap(([keyword, inner]) => {
    const at = `${pointer}${pointerOf([keyword])}`;
    if (keyword === '$ref') {
      const target = readRef(file, String(inner));
      return target ? [`${target.file}#${target.pointer}`] : [];
    }
    if (IN_PLACE.has(keyword)) return [`${file}#${at}`];
    if (!IN_PLACE_LISTS.has(keyword)) return [];
    return Object.keys(Object(inner)).map((key) => `${file}#${at}${pointerOf([key])}`);
  });
}

const IN_PLACE: ReadonlySet<string> = new Set(['not', 'if', 'then', 'else']);
const IN_PLACE_LISTS: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'oneOf',
  'dependentSchemas',
]);

const isText = (value: Json) => typeof value === 'string';
const isNumber = (value: Json) => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: Json) => isNumber(value) && Number.isInteger(value) && Number(value) >= 0;
const isTexts = (value: Json) => Array.isArray(value) && value.every(isText);
const isType = (value: Json) => typeof value === 'string' && TYPES.has(value);

export const TYPES: ReadonlySet<string> = new Set([
  'null',
  'boolean',
  'number',
  'integer',
  'string',
  'array',
  'object',
]);

/** The kinds of values that keywords have. */
const KINDS = {
  anything: { expected: 'anything', isOne: () => true },
  flag: { expected: 'true or false', isOne: (value: Json) => typeof value === 'boolean' },
  text: { expected: 'a text', isOne: isText },
  ref: { expected: 'a text', isOne: isText },
  pattern: { expected: 'a regular expression', isOne: isText },
  number: { expected: 'a number', isOne: isNumber },
  'positive number': {
    expected: 'a number above 0',
    isOne: (value: Json) => isNumber(value) && Number(value) > 0,
  },
  count: { expected: 'a whole number from 0', isOne: isCount },
  list: { expected: 'a list', isOne: (value: Json) => Array.isArray(value) },
  texts: { expected: 'a list of texts', isOne: isTexts },
  types: {
    expected: `one of ${[...TYPES].join(', ')}, or a list of them`,
    isOne: (value: Json) =>
      isType(value) || (Array.isArray(value) && value.length > 0 && value.every(isType)),
  },
  'lists of texts': {
    expected: 'a map of names to lists of texts',
    isOne: (value: Json) => isJsonObject(value) && Object.values(value).every(isTexts),
  },
  schema: {
    expected: 'a schema',
    isOne: (value: Json) => isSchema(value),
  },
  schemas: { expected: 'a map of names to schemas', isOne: (value: Json) => isJsonObject(value) },
  'list of schemas': {
    expected: 'a list of schemas',
    isOne: (value: Json) => Array.isArray(value) && value.length > 0,
  },
} as const;

/** The keywords with an effect are those of `RULES` in `json-misfits.ts`; the others describe. */
const KEYWORDS: ReadonlyMap<string, keyof typeof KINDS> = new Map([
  ['$schema', 'text'],
  ['$id', 'text'],
  ['$comment', 'text'],
  ['$defs', 'schemas'],
  ['definitions', 'schemas'],
  ['title', 'text'],
  ['description', 'text'],
  ['default', 'anything'],
  ['examples', 'list'],
  ['deprecated', 'flag'],
  ['readOnly', 'flag'],
  ['writeOnly', 'flag'],
  ['format', 'text'],
  ['contentEncoding', 'text'],
  ['contentMediaType', 'text'],
  ['$ref', 'ref'],
  ['type', 'types'],
  ['enum', 'list'],
  ['const', 'anything'],
  ['multipleOf', 'positive number'],
  ['maximum', 'number'],
  ['exclusiveMaximum', 'number'],
  ['minimum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['maxLength', 'count'],
  ['minLength', 'count'],
  ['pattern', 'pattern'],
  ['prefixItems', 'list of schemas'],
  ['items', 'schema'],
  ['contains', 'schema'],
  ['minContains', 'count'],
  ['maxContains', 'count'],
  ['maxItems', 'count'],
  ['minItems', 'count'],
  ['uniqueItems', 'flag'],
  ['properties', 'schemas'],
  ['patternProperties', 'schemas'],
  ['additionalProperties', 'schema'],
  ['propertyNames', 'schema'],
  ['required', 'texts'],
  ['maxProperties', 'count'],
  ['minProperties', 'count'],
  ['dependentRequired', 'lists of texts'],
  ['dependentSchemas', 'schemas'],
  ['allOf', 'list of schemas'],
  ['anyOf', 'list of schemas'],
  ['oneOf', 'list of schemas'],
  ['not', 'schema'],
  ['if', 'schema'],
  ['then', 'schema'],
  ['else', 'schema'],
]);

/** Keywords of other drafts, and those that Raymond leaves out. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['unevaluatedProperties', 'additionalProperties'],
  ['unevaluatedItems', 'items: false'],
  ['additionalItems', 'prefixItems and items'],
  ['dependencies', 'dependentRequired or dependentSchemas'],
  ['$anchor', 'a JSON pointer like #/$defs/file'],
  ['$dynamicRef', '$ref'],
  ['$dynamicAnchor', 'a JSON pointer like #/$defs/file'],
  ['$recursiveRef', '$ref'],
  ['id', '$id'],
  ['nullable', 'type: [string, "null"]'],
]);

const OLD_FORMS: ReadonlyMap<string, string> = new Map([
  ['items', 'A list of schemas is called prefixItems.'],
  ['exclusiveMinimum', 'Write the limit itself.'],
  ['exclusiveMaximum', 'Write the limit itself.'],
]);
