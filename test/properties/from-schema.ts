import fc from 'fast-check';
import * as z from 'zod/mini';

/** Values of a schema. Its texts include the names of a run's own agents and states. */
export function fromSchema<T extends z.ZodMiniType>(schema: T): fc.Arbitrary<z.output<T>> {
  return arbitraryOf(schema) as fc.Arbitrary<z.output<T>>;
}

type AnySchema = z.core.$ZodType;

const text = fc.oneof(
  fc.constantFrom('main', 'main_n1', 'START.md', 'N.md', '/flow', '__proto__', '{{result}}'),
  fc.string({ minLength: 1 }),
);

function arbitraryOf(schema: AnySchema): fc.Arbitrary<unknown> {
  const def = schema._zod.def as Def;
  switch (def.type) {
    case 'string':
      return text.filter((value) => z.safeParse(schema, value).success);
    case 'number':
      return fc.nat(10 ** 6);
    case 'boolean':
      return fc.boolean();
    case 'literal':
      return fc.constantFrom(...def.values);
    case 'enum':
      return fc.constantFrom(...Object.values(def.entries));
    case 'array':
      return fc.array(arbitraryOf(def.element), { maxLength: 3 });
    case 'record':
      return fc.dictionary(
        fc.constantFrom('item', 'next', 'constructor'),
        arbitraryOf(def.valueType),
      );
    case 'readonly':
      return arbitraryOf(def.innerType);
    case 'optional':
      return arbitraryOf(def.innerType);
    case 'nullable':
      return fc.option(arbitraryOf(def.innerType));
    case 'union':
      return fc.oneof(...def.options.map(arbitraryOf));
    case 'object':
      return objectOf(def.shape);
  }
}

type Def =
  | { readonly type: 'string' | 'number' | 'boolean' }
  | { readonly type: 'literal'; readonly values: readonly unknown[] }
  | { readonly type: 'enum'; readonly entries: Readonly<Record<string, unknown>> }
  | { readonly type: 'array'; readonly element: AnySchema }
  | { readonly type: 'record'; readonly valueType: AnySchema }
  | { readonly type: 'readonly' | 'optional' | 'nullable'; readonly innerType: AnySchema }
  | { readonly type: 'union'; readonly options: readonly AnySchema[] }
  | { readonly type: 'object'; readonly shape: Readonly<Record<string, AnySchema>> };

function objectOf(shape: Readonly<Record<string, AnySchema>>): fc.Arbitrary<unknown> {
  const entries = Object.entries(shape);
  const required = entries.filter(([, part]) => part._zod.def.type !== 'optional');
  return fc.record(Object.fromEntries(entries.map(([name, part]) => [name, arbitraryOf(part)])), {
    requiredKeys: required.map(([name]) => name),
  });
}
