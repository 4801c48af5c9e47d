/**
 * Checks JSON against a schema, without compiling it. The work is counted and limited, so that no schema and no
 * value can hang Raymond, and the same check always has the same outcome.
 */
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { JsonSchema, PayloadSchema } from '../model/workflow.ts';
import { clip } from './clip.ts';
import { readJson } from './json.ts';
import { isSchema, pointerOf, schemaAt } from './json-schema.ts';
import { compiledPattern } from './pattern.ts';

/** A place in a value that does not fit its schema. */
export interface Misfit {
  /** A JSON pointer; '' is the whole value. */
  readonly pointer: string;
  /** What is expected, and what was found. */
  readonly problem: string;
}

/** Why a payload does not fit; empty if it fits. */
export function payloadMisfits(schema: PayloadSchema, payload: string): readonly Misfit[] {
  const whole = (problem: string) => [{ pointer: '', problem }];
  if (payload.length > LONGEST_PAYLOAD) {
    return whole(`expected at most ${LONGEST_PAYLOAD} characters, found ${payload.length}`);
  }
  const read = readJson(payload, DEEPEST_PAYLOAD);
  if (!read.ok) return whole(`expected JSON and nothing else (${read.problem})`);
  return misfits(schema, read.value);
}

const LONGEST_PAYLOAD = 1024 * 1024;
/** The value of a join contains payloads, and is deeper than they are. */
const DEEPEST_PAYLOAD = 100;

/** `mostWork`: parts of the schema that are compared with parts of the value. */
export function misfits(
  { file, documents }: PayloadSchema,
  value: Json,
  mostWork = 300_000,
): readonly Misfit[] {
  const check = new Check(documents, mostWork);
  try {
    return check.all({ file, schema: documents[file] ?? true, value, path: TOP }).map(shown);
  } catch (error) {
    if (error instanceof TooMuchWork) return [shown(error.misfit)];
    throw error;
  }
}

/** The first few are enough to correct a value. */
const MOST_MISFITS = 5;

interface Path {
  readonly up: Path | undefined;
  readonly key: string;
  readonly depth: number;
}

const TOP: Path = { up: undefined, key: '', depth: 0 };

interface Found {
  readonly path: Path;
  readonly problem: string;
}

interface At {
  /** The document that contains the schema. */
  readonly file: string;
  readonly schema: JsonSchema;
  readonly value: Json;
  readonly path: Path;
}

class TooMuchWork extends Error {
  readonly misfit: Found;

  constructor(path: Path) {
    super('Bug: an ended check was not caught');
    this.misfit = { path, problem: 'expected a value that can be checked with less work' };
  }
}

class Check {
  readonly documents: PayloadSchema['documents'];
  #workLeft: number;
  #depth = 0;
  readonly #targets = new Map<string, Pick<At, 'file' | 'schema'> | undefined>();
  readonly #patterns = new Map<string, ReturnType<typeof compiledPattern>>();

  constructor(documents: PayloadSchema['documents'], mostWork: number) {
    this.documents = documents;
    this.#workLeft = mostWork;
  }

  work(amount: number, path: Path): void {
    this.#workLeft -= amount;
    if (this.#workLeft < 0) throw new TooMuchWork(path);
  }

  all(at: At): readonly Found[] {
    const { schema, path } = at;
    this.work(1, path);
    if (schema === true) return [];
    if (schema === false) return [{ path, problem: 'expected nothing here' }];
    if (this.#depth > DEEPEST) throw new TooMuchWork(path);
    this.#depth += 1;
    const found: Found[] = [];
    for (const [keyword, rule] of Object.entries(schema)) {
      const apply = RULES.get(keyword);
      if (!apply) continue;
      this.work(1 + (breadthOf(at.value) + breadthOf(rule)) / 20, path);
      found.push(...apply(this, at, rule, schema));
      if (found.length >= MOST_MISFITS) break;
    }
    this.#depth -= 1;
    return found.slice(0, MOST_MISFITS);
  }

  fits(at: At): boolean {
    return this.all(at).length === 0;
  }

  /** The schema that a reference names. */
  target(from: string, written: string): Pick<At, 'file' | 'schema'> | undefined {
    const key = JSON.stringify([from, written]);
    if (this.#targets.has(key)) return this.#targets.get(key);
    const target = schemaAt(this.documents, from, written);
    this.#targets.set(key, target);
    return target;
  }

  isFound(pattern: string, text: string, path: Path): boolean {
    const known = this.#patterns.get(pattern) ?? compiledPattern(pattern);
    this.#patterns.set(pattern, known);
    this.work(1 + Math.ceil((text.length * known.size) / 50), path);
    return known.isFound(text);
  }
}

function breadthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Array.isArray(value) ? value.length : Object.keys(value).length;
}

/** References and combinations can nest deeper than values do. */
const DEEPEST = 500;

type Rule = (check: Check, at: At, rule: Json, schema: JsonObject) => readonly Found[];

/** A rule for values of one type. It has no effect on others. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['$ref', reference],
  ['type', type],
  ['enum', (check, at, rule) => oneOfValues(check, at, Array.isArray(rule) ? rule : [])],
  ['const', (check, at, rule) => oneOfValues(check, at, [rule])],
  ['multipleOf', numeric('a multiple of', (value, of) => Number.isInteger(value / of))],
  ['maximum', numeric('at most', (value, most) => value <= most)],
  ['exclusiveMaximum', numeric('less than', (value, limit) => value < limit)],
  ['minimum', numeric('at least', (value, least) => value >= least)],
  ['exclusiveMinimum', numeric('more than', (value, limit) => value > limit)],
  ['maxLength', size('at most', lettersOf, 'characters')],
  ['minLength', size('at least', lettersOf, 'characters')],
  ['pattern', pattern],
  ['maxItems', size('at most', itemsOf, 'items')],
  ['minItems', size('at least', itemsOf, 'items')],
  ['maxProperties', size('at most', propertiesOf, 'properties')],
  ['minProperties', size('at least', propertiesOf, 'properties')],
  ['uniqueItems', uniqueItems],
  ['prefixItems', prefixItems],
  ['items', items],
  ['contains', contains],
  ['required', (_, at, rule) => missing(at, textsIn(rule))],
  ['dependentRequired', dependentRequired],
  ['properties', properties],
  ['patternProperties', patternProperties],
  ['additionalProperties', additionalProperties],
  ['propertyNames', propertyNames],
  ['dependentSchemas', dependentSchemas],
  ['allOf', (check, at, rule) => inTurn(schemasIn(rule), (schema) => check.all({ ...at, schema }))],
  ['anyOf', anyOf],
  ['oneOf', oneOf],
  ['not', not],
  ['if', conditional],
]);

function reference(check: Check, at: At, rule: Json): readonly Found[] {
  const target = check.target(at.file, String(rule));
  return target ? check.all({ ...at, ...target }) : [];
}

function type(_: Check, at: At, rule: Json): readonly Found[] {
  const types = textsIn(Array.isArray(rule) ? rule : [rule]);
  const isOne = types.some(
    (name) => name === typeOf(at.value) || (name === 'number' && typeof at.value === 'number'),
  );
  return isOne ? [] : [unlike(at, types.map((name) => TYPE_WORDS[name] ?? name).join(' or '))];
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
  string: 'a string',
  array: 'a list',
  object: 'an object',
};

function typeOf(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function oneOfValues(check: Check, at: At, wanted: readonly Json[]): readonly Found[] {
  const own = canonical(check, at.value, at.path);
  if (wanted.some((one) => canonical(check, one, at.path) === own)) return [];
  const some = wanted.slice(0, MOST_NAMED).map(quoted).join(' or ');
  return [
    unlike(
      at,
      wanted.length > MOST_NAMED
        ? `${some} or one of ${wanted.length - MOST_NAMED} others`
        : some || 'nothing',
    ),
  ];
}

const MOST_NAMED = 8;

/** Equal values have the same text, whatever the order of their keys. */
function canonical(check: Check, value: Json, path: Path): string {
  check.work(1 + (typeof value === 'string' ? value.length / 100 : 0), path);
  if (Array.isArray(value)) return `[${value.map((one) => canonical(check, one, path)).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value === 0 ? 0 : value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(check, value[key] ?? null, path)}`).join()}}`;
}

function numeric(words: string, isMet: (value: number, limit: number) => boolean): Rule {
  return (_, at, rule) => {
    const { value } = at;
    if (typeof value !== 'number' || isMet(value, Number(rule))) return [];
    return [unlike(at, `${words} ${rule}`)];
  };
}

function size(
  words: 'at most' | 'at least',
  sizeOf: (value: Json) => number | undefined,
  unit: string,
): Rule {
  return (check, at, rule) => {
    check.work(typeof at.value === 'string' ? at.value.length / 100 : 1, at.path);
    const own = sizeOf(at.value);
    const isMet =
      own === undefined || (words === 'at most' ? own <= Number(rule) : own >= Number(rule));
    return isMet
      ? []
      : [{ path: at.path, problem: `expected ${words} ${rule} ${unit}, found ${own}` }];
  };
}

function lettersOf(value: Json): number | undefined {
  if (typeof value !== 'string') return undefined;
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

function itemsOf(value: Json): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function propertiesOf(value: Json): number | undefined {
  return isJsonObject(value) ? Object.keys(value).length : undefined;
}

function pattern(check: Check, at: At, rule: Json): readonly Found[] {
  const { value, path } = at;
  if (typeof value !== 'string' || check.isFound(String(rule), value, path)) return [];
  return [unlike(at, `a string that matches ${rule}`)];
}

function uniqueItems(check: Check, at: At, rule: Json): readonly Found[] {
  if (rule !== true || !Array.isArray(at.value)) return [];
  const seen = new Set<string>();
  for (const [index, item] of at.value.entries()) {
    const own = canonical(check, item, at.path);
    if (seen.has(own))
      return [
        { path: below(at.path, index), problem: 'expected an item that is not in the list yet' },
      ];
    seen.add(own);
  }
  return [];
}

function prefixItems(check: Check, at: At, rule: Json): readonly Found[] {
  const list = Array.isArray(at.value) ? at.value : [];
  const schemas = schemasIn(rule).slice(0, list.length);
  return inTurn([...schemas.entries()], ([index, schema]) =>
    check.all({ ...at, schema, value: list[index] ?? null, path: below(at.path, index) }),
  );
}

function items(check: Check, at: At, rule: Json, { prefixItems: first }: JsonObject) {
  if (!Array.isArray(at.value) || !isSchema(rule)) return [];
  const from = Array.isArray(first) ? first.length : 0;
  return inTurn([...at.value.entries()].slice(from), ([index, value]: [number, Json]) =>
    check.all({ ...at, schema: rule, value, path: below(at.path, index) }),
  );
}

function contains(check: Check, at: At, rule: Json, schema: JsonObject): readonly Found[] {
  if (!Array.isArray(at.value) || !isSchema(rule)) return [];
  const fitting = at.value.filter((value, index) =>
    check.fits({ ...at, schema: rule, value, path: below(at.path, index) }),
  ).length;
  const least = Number(schema.minContains ?? 1);
  const most = Number(schema.maxContains ?? Number.POSITIVE_INFINITY);
  if (fitting >= least && fitting <= most) return [];
  const wanted = fitting < least ? `at least ${least}` : `at most ${most}`;
  return [
    {
      path: at.path,
      problem: `expected ${wanted} of the items to be as contains says, found ${fitting}`,
    },
  ];
}

function missing({ value, path }: At, names: readonly string[]): readonly Found[] {
  if (!isJsonObject(value)) return [];
  return names
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => ({ path, problem: `expected the property ${quoted(name)}, which is missing` }));
}

function dependentRequired(_: Check, at: At, rule: Json): readonly Found[] {
  return present(at, rule).flatMap(([, names]) => missing(at, textsIn(names)));
}

function dependentSchemas(check: Check, at: At, rule: Json): readonly Found[] {
  return inTurn(present(at, rule), ([, schema]) =>
    isSchema(schema) ? check.all({ ...at, schema }) : [],
  );
}

/** The entries of a rule for the properties that a value has. */
function present({ value }: At, rule: Json): readonly (readonly [string, Json])[] {
  if (!isJsonObject(value) || !isJsonObject(rule)) return [];
  return Object.entries(rule).filter(([name]) => Object.hasOwn(value, name));
}

function properties(check: Check, at: At, rule: Json): readonly Found[] {
  return inTurn(present(at, rule), ([name, schema]) => property(check, at, name, schema));
}

function patternProperties(check: Check, at: At, rule: Json): readonly Found[] {
  if (!isJsonObject(at.value) || !isJsonObject(rule)) return [];
  const names = Object.keys(at.value);
  return inTurn(Object.entries(rule), ([wanted, schema]) =>
    inTurn(names, (name) =>
      check.isFound(wanted, name, at.path) ? property(check, at, name, schema) : [],
    ),
  );
}

function additionalProperties(check: Check, at: At, rule: Json, schema: JsonObject) {
  if (!isJsonObject(at.value) || !isSchema(rule)) return [];
  const named = isJsonObject(schema.properties) ? schema.properties : {};
  const patterns = isJsonObject(schema.patternProperties)
    ? Object.keys(schema.patternProperties)
    : [];
  return inTurn(Object.keys(at.value), (name) => {
    check.work(1, at.path);
    if (Object.hasOwn(named, name)) return [];
    if (patterns.some((one) => check.isFound(one, name, at.path))) return [];
    if (rule !== false) return property(check, at, name, rule);
    const known = Object.keys(named).slice(0, MOST_NAMED).map(quoted).join(', ');
    const others = known === '' ? 'no properties' : `only the properties ${known}`;
    return [{ path: below(at.path, name), problem: `expected ${others}` }];
  });
}

function property(check: Check, at: At, name: string, schema: Json): readonly Found[] {
  if (!isJsonObject(at.value) || !isSchema(schema)) return [];
  return check.all({ ...at, schema, value: at.value[name] ?? null, path: below(at.path, name) });
}

function propertyNames(check: Check, at: At, rule: Json): readonly Found[] {
  if (!isJsonObject(at.value) || !isSchema(rule)) return [];
  return inTurn(Object.keys(at.value), (name) =>
    check
      .all({ ...at, schema: rule, value: name, path: below(at.path, name) })
      .map(({ path, problem }) => ({ path, problem: `${problem} (the name of the property)` })),
  );
}

/** The closest alternative says most: the one that fails deepest in the value. */
function anyOf(check: Check, at: At, rule: Json): readonly Found[] {
  const failed: (readonly Found[])[] = [];
  for (const schema of schemasIn(rule)) {
    const found = check.all({ ...at, schema });
    if (found.length === 0) return [];
    failed.push(found);
  }
  const depthOf = (found: readonly Found[]) => Math.max(...found.map(({ path }) => path.depth));
  const deepest = failed.reduce((a, b) => (depthOf(b) > depthOf(a) ? b : a), failed[0] ?? []);
  if (deepest.length > 0 && depthOf(deepest) > at.path.depth) return deepest;
  const problems = [...new Set(failed.flatMap(([first]) => first?.problem ?? []))];
  return [
    {
      path: at.path,
      problem: problems.slice(0, MOST_NAMED).join(', or ') || 'expected nothing here',
    },
  ];
}

function oneOf(check: Check, at: At, rule: Json): readonly Found[] {
  const schemas = schemasIn(rule);
  const fitting = schemas.filter((schema) => check.fits({ ...at, schema })).length;
  if (fitting === 1) return [];
  if (fitting === 0) return anyOf(check, at, rule);
  return [
    {
      path: at.path,
      problem: `expected a value that fits one of the alternatives, but it fits ${fitting}`,
    },
  ];
}

function not(check: Check, at: At, rule: Json): readonly Found[] {
  if (!isSchema(rule) || !check.fits({ ...at, schema: rule })) return [];
  return [unlike(at, 'a value that does not fit the schema under not')];
}

function conditional(check: Check, at: At, rule: Json, schema: JsonObject): readonly Found[] {
  const branch = isSchema(rule) && check.fits({ ...at, schema: rule }) ? schema.then : schema.else;
  return isSchema(branch) ? check.all({ ...at, schema: branch }) : [];
}

function inTurn<T>(things: readonly T[], find: (one: T) => readonly Found[]): readonly Found[] {
  const found: Found[] = [];
  for (const one of things) {
    found.push(...find(one));
    if (found.length >= MOST_MISFITS) break;
  }
  return found;
}

const schemasIn = (rule: Json): readonly JsonSchema[] =>
  Array.isArray(rule) ? rule.filter(isSchema) : [];

const textsIn = (rule: Json): readonly string[] =>
  Array.isArray(rule) ? rule.filter((one) => typeof one === 'string') : [];

function below(path: Path, key: string | number): Path {
  return { up: path, key: String(key), depth: path.depth + 1 };
}

function unlike({ value, path }: At, expected: string): Found {
  return { path, problem: `expected ${expected}, found ${quoted(value)}` };
}

/** A value in a message. Lists and objects are named, because they can be long. */
function quoted(value: Json): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (isJsonObject(value)) return 'an object';
  return JSON.stringify(typeof value === 'string' ? clip(value) : value);
}

function shown({ path, problem }: Found): Misfit {
  const keys: string[] = [];
  for (let at: Path | undefined = path; at?.up; at = at.up) keys.push(at.key);
  return { pointer: pointerOf(keys.reverse()), problem };
}
