/** What a JSON Schema says about a place in a YAML text: the keys and the values that belong there. */
import type { Step } from './yaml-spot.ts';

/** A JSON Schema of ours, as `src/schemas` makes it. */
export type Schema = { readonly [keyword: string]: unknown };

export interface Suggestion {
  readonly name: string;
  readonly description: string;
  readonly isRequired?: boolean;
}

/** The keys of the map at a path. Its keys so far choose one of several forms. */
export function keysAt(
  root: Schema,
  path: readonly Step[],
  siblings: ReadonlyMap<string, string>,
): readonly Suggestion[] {
  const forms = at(root, path).filter((form) => fits(form, siblings));
  return distinct(
    forms.flatMap((form) => {
      const required = Array.isArray(form.required) ? form.required : [];
      return Object.entries(fieldsOf(form.properties)).map(([name, schema]) => ({
        name,
        description: describe(root, schema),
        isRequired: required.includes(name),
      }));
    }),
  );
}

/** The values that a schema lists for a path. */
export function valuesAt(root: Schema, path: readonly Step[]): readonly Suggestion[] {
  const values = at(root, path).flatMap((form): readonly unknown[] => {
    if (Array.isArray(form.enum)) return form.enum;
    if ('const' in form) return [form.const];
    return form.type === 'boolean' ? [true, false] : [];
  });
  return distinct(values.map((value) => ({ name: String(value), description: '' })));
}

export function descriptionAt(root: Schema, path: readonly Step[], key: string): string {
  const found = keysAt(root, path, new Map()).filter(({ name }) => name === key);
  return found.find(({ description }) => description !== '')?.description ?? '';
}

/** All forms that the value at a path may have. */
function at(root: Schema, path: readonly Step[]): readonly Schema[] {
  let forms = expand(root, root);
  for (const step of path) forms = forms.flatMap((form) => expand(root, below(form, step)));
  return forms;
}

function below(form: Schema, step: Step): unknown {
  if (typeof step === 'number') return form.items;
  return fieldsOf(form.properties)[step] ?? form.additionalProperties;
}

function expand(root: Schema, schema: unknown, depth = 0): readonly Schema[] {
  if (!isSchema(schema) || depth > DEEPEST) return [];
  if (typeof schema.$ref === 'string') {
    const name = schema.$ref.replace('#/definitions/', '');
    return expand(root, fieldsOf(root.definitions)[name], depth + 1);
  }
  const any = Array.isArray(schema.anyOf) ? schema.anyOf : [];
  const hasOwn = 'properties' in schema || any.length === 0;
  return [...(hasOwn ? [schema] : []), ...any.flatMap((one) => expand(root, one, depth + 1))];
}

const DEEPEST = 10;

/** Whether no key of the map has another constant in this form, such as the tag of an entry. */
function fits(form: Schema, siblings: ReadonlyMap<string, string>): boolean {
  return Object.entries(fieldsOf(form.properties)).every(([name, schema]) => {
    const written = siblings.get(name);
    if (written === undefined || !isSchema(schema) || !('const' in schema)) return true;
    return String(schema.const) === written;
  });
}

function describe(root: Schema, schema: unknown): string {
  if (!isSchema(schema)) return '';
  if (typeof schema.description === 'string') return schema.description;
  const [first] = expand(root, schema);
  return typeof first?.description === 'string' ? first.description : '';
}

function distinct(suggestions: readonly Suggestion[]): readonly Suggestion[] {
  const byName = new Map<string, Suggestion>();
  for (const one of suggestions) if (!byName.has(one.name)) byName.set(one.name, one);
  return [...byName.values()];
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldsOf = (value: unknown): Schema => (isSchema(value) ? value : {});
