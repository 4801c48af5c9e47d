/**
 * A check of parsed JSON that takes a fraction of the time of its schema. It is derived from the schema,
 * so no second list of fields exists. It accepts only values that the schema accepts and returns
 * unchanged. It may reject a valid value: then the schema decides.
 */
import type * as z from 'zod/mini';

type Schema = z.core.$ZodType;
type Check = (value: unknown) => boolean;

/** `beside` are keys that a value may have in addition to those of the schema. */
export function quickCheck<T extends Schema>(
  schema: T,
  beside: readonly string[] = [],
): (value: unknown) => value is z.core.output<T> {
  const check = checkOf(schema, beside);
  return (value): value is z.core.output<T> => check(value);
}

function checkOf(schema: Schema, beside: readonly string[] = []): Check {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const bounds = boundsOf(def.checks ?? []);
  if (!bounds) return unknown;
  switch (def.type) {
    case 'string':
      return 'format' in def ? unknown : (value) => isString(value, bounds);
    case 'number':
      if (!('format' in def)) return (value) => isNumber(value, bounds);
      return def.format === 'safeint' ? (value) => isInteger(value, bounds) : unknown;
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'literal':
      return isOneOf(def.values);
    case 'enum':
      return isOneOf(Object.values(def.entries));
    case 'array':
      return arrayOf(checkOf(def.element));
    case 'record':
      return recordOf(checkOf(def.keyType), checkOf(def.valueType));
    case 'object':
      return def.catchall ? unknown : objectOf(def.shape, beside);
    case 'union':
      return 'discriminator' in def && typeof def.discriminator === 'string'
        ? oneByName(def.discriminator, def.options, beside)
        : anyOf(def.options.map((option) => checkOf(option, beside)));
    // The surrounding object decides whether a value may be absent.
    case 'optional':
    case 'readonly':
      return checkOf(def.innerType, beside);
    case 'nullable':
      return anyOf([(value) => value === null, checkOf(def.innerType, beside)]);
    default:
      return unknown;
  }
}

/** For a schema of a kind that is not known here. */
const unknown: Check = () => false;

/** Inclusive bounds of a number, or of the length of a text. */
interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** Undefined if a rule is not such a bound. */
function boundsOf(rules: readonly z.core.$ZodCheck<never>[]): Bounds | undefined {
  let [least, most] = [-Number.MAX_VALUE, Number.MAX_VALUE];
  for (const rule of rules) {
    const { def } = (rule as z.core.$ZodChecks)._zod;
    if (def.check === 'min_length') least = Math.max(least, def.minimum);
    else if (def.check === 'greater_than' && def.inclusive)
      least = Math.max(least, Number(def.value));
    else if (def.check === 'less_than' && def.inclusive) most = Math.min(most, Number(def.value));
    else return undefined;
  }
  return { least, most };
}

const isString = (value: unknown, { least, most }: Bounds) =>
  typeof value === 'string' && value.length >= least && value.length <= most;
const isNumber = (value: unknown, { least, most }: Bounds) =>
  typeof value === 'number' && value >= least && value <= most;
const isInteger = (value: unknown, bounds: Bounds) =>
  Number.isSafeInteger(value) && isNumber(value, bounds);

function isOneOf(values: readonly unknown[]): Check {
  const all = new Set(values);
  return (value) => all.has(value);
}

function anyOf(checks: readonly Check[]): Check {
  return (value) => checks.some((check) => check(value));
}

function arrayOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

type JsonRecord = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema drops a key `__proto__`, so it has to see such a value. */
function recordOf(keyCheck: Check, check: Check): Check {
  return (value) => {
    if (!isRecord(value)) return false;
    for (const key in value)
      if (key === '__proto__' || !keyCheck(key) || !check(value[key])) return false;
    return true;
  };
}

/**
 * The schema drops unknown keys, so it has to see a value that has any. One pass over the keys of the
 * value takes half the time of a pass over those of the schema and a count.
 */
function objectOf(shape: Readonly<Record<string, Schema>>, beside: readonly string[]): Check {
  const fields = new Map<string, { readonly check: Check; readonly isRequired: boolean }>();
  for (const name of beside) fields.set(name, { check: () => true, isRequired: false });
  let required = 0;
  for (const [name, schema] of Object.entries(shape)) {
    const isRequired = schema._zod.optin === undefined;
    if (isRequired) required += 1;
    fields.set(name, { check: checkOf(schema), isRequired });
  }
  return (value) => {
    if (!isRecord(value)) return false;
    let missing = required;
    for (const name in value) {
      const field = fields.get(name);
      const given = value[name];
      if (given === undefined || !field?.check(given)) return false;
      if (field.isRequired) missing -= 1;
    }
    return missing === 0;
  };
}

/** One field gives the name of the object that a value must be. */
function oneByName(field: string, options: readonly Schema[], beside: readonly string[]): Check {
  const schemas = new Map<unknown, Schema>();
  for (const option of options)
    for (const name of option._zod.propValues?.[field] ?? []) schemas.set(name, option);
  // Most readers need few of these checks, and building all of them would slow down every start.
  const checks = new Map<unknown, Check>();
  const checkFor = (name: unknown): Check => {
    const schema = schemas.get(name);
    const check = schema ? checkOf(schema, beside) : unknown;
    if (schema) checks.set(name, check);
    return check;
  };
  return (value) => {
    if (!isRecord(value)) return false;
    const name = value[field];
    return (checks.get(name) ?? checkFor(name))(value);
  };
}
