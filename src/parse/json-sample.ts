/** Invents a value that fits a schema, for rehearsals. */
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { JsonSchema, PayloadSchema } from '../model/workflow.ts';
import { misfits } from './json-misfits.ts';
import { isSchema, schemaAt } from './json-schema.ts';

/** A simple value that fits; undefined if none was found. */
export function sampleOf(schema: PayloadSchema): Json | undefined {
  const { file, documents } = schema;
  const sketch = { documents, partsLeft: MOST_PARTS };
  const value = likely(sketch, file, documents[file] ?? true);
  return misfits(schema, value, MOST_WORK).length === 0 ? value : undefined;
}

const MOST_PARTS = 2_000;
const MOST_WORK = 20_000;

interface Sketch {
  readonly documents: PayloadSchema['documents'];
  partsLeft: number;
}

/** A value that probably fits. Recursive schemas end when there are enough parts. */
function likely(sketch: Sketch, file: string, schema: JsonSchema): Json {
  sketch.partsLeft -= 1;
  if (typeof schema === 'boolean' || sketch.partsLeft < 0) return TEXT;
  const given = [
    ...('const' in schema ? [schema.const] : []),
    ...listIn(schema.enum).slice(0, 1),
    ...('default' in schema ? [schema.default] : []),
    ...listIn(schema.examples).slice(0, 1),
  ];
  if (given.length > 0) return given[0] ?? null;
  const target =
    typeof schema.$ref === 'string' ? schemaAt(sketch.documents, file, schema.$ref) : undefined;
  const parts = [
    ...(target ? [likely(sketch, target.file, target.schema)] : []),
    ...[...listIn(schema.anyOf).slice(0, 1), ...listIn(schema.oneOf).slice(0, 1)]
      .concat(listIn(schema.allOf))
      .filter(isSchema)
      .map((one) => likely(sketch, file, one)),
    ...(isTyped(schema) ? [ofType(sketch, file, schema)] : []),
  ];
  const objects = parts.filter(isJsonObject);
  return objects.length > 1 ? Object.assign({}, ...objects) : (parts.at(-1) ?? TEXT);
}

const TEXT = 'rehearsed';

/** Whether the schema itself says of which type its value is. */
const isTyped = (schema: JsonObject) =>
  ['type', 'properties', 'required', 'items', 'prefixItems'].some((keyword) => keyword in schema);

function ofType(sketch: Sketch, file: string, schema: JsonObject): Json {
  const inner = (one: Json | undefined) => likely(sketch, file, isSchema(one) ? one : true);
  const [named] = [schema.type].flat();
  const first = 'items' in schema || 'prefixItems' in schema ? 'array' : 'object';
  switch (named ?? first) {
    case 'null':
      return null;
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return aNumber(schema);
    case 'array': {
      const prefix = listIn(schema.prefixItems).map(inner);
      const more = Math.min(Number(schema.minItems ?? 0), MOST_ITEMS) - prefix.length;
      return [...prefix, ...Array.from({ length: Math.max(0, more) }, () => inner(schema.items))];
    }
    case 'object': {
      const properties = isJsonObject(schema.properties) ? schema.properties : {};
      const names = listIn(schema.required).map(String);
      return Object.fromEntries(
        names.map((name) => [
          name,
          inner(Object.hasOwn(properties, name) ? properties[name] : undefined),
        ]),
      );
    }
    default:
      return TEXT.padEnd(Math.min(Number(schema.minLength ?? 0), MOST_LETTERS), '.').slice(
        0,
        Number(schema.maxLength ?? MOST_LETTERS),
      );
  }
}

const MOST_ITEMS = 20;
const MOST_LETTERS = 10_000;

function aNumber(schema: JsonObject): number {
  const { minimum, exclusiveMinimum: above, maximum, exclusiveMaximum: below } = schema;
  const from = minimum ?? (typeof above === 'number' ? above + 1 : undefined);
  const to = maximum ?? (typeof below === 'number' ? below - 1 : undefined);
  const step = Number(schema.multipleOf ?? (schema.type === 'integer' ? 1 : 0));
  const number = Number(from ?? (typeof to === 'number' ? Math.min(1, to) : 1));
  return step > 0 ? Math.ceil(number / step) * step : number;
}

const listIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);
