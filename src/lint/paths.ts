/** Paths like `{{result.verdict}}` that no result which the schemas allow can have. */
import type { Walk } from '../explore/walk.ts';
import { positionsIn } from '../graph/position.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonObject, type Json } from '../model/json.ts';
import type { StateName } from '../model/state-name.ts';
import type { JsonSchema, PayloadSchema } from '../model/workflow.ts';
import { INDEX, valueAt } from '../parse/json.ts';
import { isSchema, schemaAt } from '../parse/json-schema.ts';
import { PLACEHOLDER, pathOf, VALUE_NAMES } from '../parse/placeholders.ts';
import { fault } from './codes.ts';
import { allWays, type Lint, prompts } from './rule.ts';

export function impossiblePaths(lint: Lint, walk: Walk): readonly Diagnostic[] {
  const schemasAt = checkedValues(lint, walk);
  return prompts(lint).flatMap((state) => {
    const schemas = schemasAt.get(state.name);
    if (!schemas) return [];
    const position = positionsIn(state.template, state.place);
    return [...state.template.matchAll(PLACEHOLDER)].flatMap((match) => {
      const [written, name, path] = match;
      if (!VALUE_NAMES.some((one) => one === name)) return [];
      const keys = pathOf(path);
      if (schemas.some((schema) => canHave(schema, keys))) return [];
      const files = [...new Set(schemas.map(({ file }) => file || 'its schema'))].join(', ');
      const message = `${written} is never filled: no result that fits ${files} has this part.`;
      return fault('impossible-path', state.name, position(match.index), message, {
        remedy: 'Correct the path, or add the property to the schema.',
      });
    });
  });
}

/** The schemas of the values that a state can receive. A state with any other value is left out. */
function checkedValues(lint: Lint, walk: Walk): ReadonlyMap<StateName, readonly PayloadSchema[]> {
  const checked = new Map<StateName, PayloadSchema[]>();
  if (walk.hasOpenWays || walk.boundHit || walk.deadEnds.size > 0) return checked;
  const unknown = new Set<StateName>([lint.workflow.entry]);
  for (const { way } of allWays(lint)) {
    // Only the results of a callee in the same workflow are known. An agent may add an input to any target.
    for (const { part, ...to } of way.references)
      if (to.kind === 'state' && !(part === 'return' && CALLS.has(way.tag))) unknown.add(to.state);
  }
  for (const { at, way } of walk.results) {
    for (const { returns } of at.activation.callers) {
      const { schema } = way.entry ?? {};
      if (schema) checked.set(returns, [...(checked.get(returns) ?? []), schema]);
      else unknown.add(returns);
    }
  }
  return new Map([...checked].filter(([state]) => !unknown.has(state)));
}

const CALLS: ReadonlySet<string> = new Set(['call', 'function']);

/** Whether some value that fits a schema may have a path. It says yes where it cannot know. */
export function canHave({ file, documents }: PayloadSchema, path: readonly string[]): boolean {
  let workLeft = MOST_WORK;
  const can = (from: string, schema: Json | undefined, at: number): boolean => {
    workLeft -= 1;
    const key = path[at];
    if (workLeft < 0 || !isSchema(schema) || schema === true) return true;
    if (schema === false) return false;
    const target =
      typeof schema.$ref === 'string' ? schemaAt(documents, from, schema.$ref) : undefined;
    if (target && !can(target.file, target.schema, at)) return false;
    if (!listIn(schema.allOf).every((one) => can(from, one, at))) return false;
    for (const some of [schema.anyOf, schema.oneOf])
      if (Array.isArray(some) && !some.some((one) => can(from, one, at))) return false;
    const rest = path.slice(at);
    const values = 'const' in schema ? [schema.const ?? null] : schema.enum;
    if (Array.isArray(values) && !values.some((one) => valueAt(one, rest) !== undefined))
      return false;
    if (key === undefined) return true;
    const types = schema.type === undefined ? undefined : [schema.type].flat();
    const mayBe = (type: string) => types === undefined || types.includes(type);
    return (
      (mayBe('object') && can(from, propertyIn(schema, key), at + 1)) ||
      (mayBe('array') && INDEX.test(key) && can(from, itemIn(schema, Number(key)), at + 1))
    );
  };
  return can(file, documents[file], 0);
}

const MOST_WORK = 10_000;

function propertyIn(
  { properties, patternProperties, additionalProperties }: Exclude<JsonSchema, boolean>,
  key: string,
): Json | undefined {
  if (isJsonObject(properties) && Object.hasOwn(properties, key)) return properties[key];
  return patternProperties === undefined ? additionalProperties : undefined;
}

function itemIn(
  { prefixItems, items, maxItems }: Exclude<JsonSchema, boolean>,
  index: number,
): Json | undefined {
  if (typeof maxItems === 'number' && index >= maxItems) return false;
  return listIn(prefixItems)[index] ?? items;
}

const listIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
