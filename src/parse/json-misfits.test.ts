import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json } from '../model/json.ts';
import type { JsonSchema, PayloadSchema } from '../model/workflow.ts';
import { misfits, payloadMisfits } from './json-misfits.ts';
import { readSchemaDocument, refFaults } from './json-schema.ts';

const schemaOf = (root: JsonSchema, others: Record<string, JsonSchema> = {}): PayloadSchema => ({
  file: '',
  documents: { '': root, ...others },
  line: 1,
  column: 1,
});

test.each<[string, JsonSchema, Json, string]>([
  ['a type', { type: 'integer' }, '12', ': expected a whole number, found "12"'],
  ['several types', { type: ['string', 'null'] }, 1, ': expected a string or null, found 1'],
  ['an enum', { enum: ['a', 1] }, 'b', ': expected "a" or 1, found "b"'],
  ['a const', { const: { a: 1 } }, { a: 2 }, ': expected an object, found an object'],
  ['a number', { minimum: 2 }, 1, ': expected at least 2, found 1'],
  ['a length', { minLength: 2 }, '\u{1F600}', ': expected at least 2 characters, found 1'],
  ['a pattern', { pattern: '^a+$' }, 'b', ': expected a string that matches ^a+$, found "b"'],
  [
    'a repeated item',
    { uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    '/1: expected an item that is not in the list yet',
  ],
  ['an item', { items: { type: 'null' } }, [null, 1], '/1: expected null, found 1'],
  [
    'an item after others',
    { prefixItems: [true], items: false },
    [1, 2],
    '/1: expected nothing here',
  ],
  ['a missing property', { required: ['a'] }, {}, ': expected the property "a", which is missing'],
  [
    'an inherited property',
    { required: ['toString'] },
    {},
    ': expected the property "toString", which is missing',
  ],
  [
    'another property',
    { properties: { a: true }, additionalProperties: false },
    { 'b/~': 1 },
    '/b~1~0: expected only the properties "a"',
  ],
  [
    'the name of a property',
    { propertyNames: { maxLength: 1 } },
    { ab: 1 },
    '/ab: expected at most 1 characters, found 2 (the name of the property)',
  ],
  [
    'the deepest alternative',
    { anyOf: [{ type: 'null' }, { properties: { a: { type: 'null' } } }] },
    { a: 1 },
    '/a: expected null, found 1',
  ],
  [
    'alternatives',
    { anyOf: [{ type: 'null' }, { const: 1 }] },
    2,
    ': expected null, found 2, or expected 1, found 2',
  ],
  [
    'two alternatives of oneOf',
    { oneOf: [{ type: 'integer' }, { minimum: 1 }] },
    2,
    ': expected a value that fits one of the alternatives, but it fits 2',
  ],
  // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
  ['a condition', { if: { const: 1 }, then: false }, 1, ': expected nothing here'],
  [
    'a reference',
    { $ref: '#/$defs/a%20b', $defs: { 'a b': { type: 'null' } } },
    1,
    ': expected null, found 1',
  ],
  ['a reference to a file', { $ref: 'x.schema.json#/$defs/a' }, 1, ': expected null, found 1'],
  [
    'a recursive schema',
    { properties: { next: { $ref: '#' } }, required: ['id'] },
    { id: 1, next: { id: 2, next: {} } },
    '/next/next: expected the property "id", which is missing',
  ],
])('names the place of %s', (_, schema, value, expected) => {
  const other = { $defs: { a: { type: 'null' } } };
  const [found] = misfits(schemaOf(schema, { 'x.schema.json': other }), value);
  expect(found && `${found.pointer}: ${found.problem}`.replace(/^: /, ': ')).toBe(expected);
});

test('names several places at once, but not hundreds', () => {
  const found = misfits(
    schemaOf({ items: { type: 'null' } }),
    Array.from({ length: 300 }, () => 1),
  );
  expect(found.map(({ pointer }) => pointer)).toEqual(['/0', '/1', '/2', '/3', '/4']);
});

test.each([
  ['no JSON', 'fine', 'expected JSON and nothing else'],
  ['JSON in a code block', '```json\n{}\n```', 'expected JSON and nothing else'],
  ['JSON with words', '{} is my answer', 'expected JSON and nothing else'],
  ['too deep JSON', '['.repeat(5_000), 'nested more than 100 levels deep'],
  ['too much JSON', `"${'x'.repeat(2_000_000)}"`, 'expected at most 1048576 characters'],
])('a payload is refused for %s', (_, payload, problem) => {
  expect(payloadMisfits(schemaOf(true), payload)[0]?.problem).toContain(problem);
});

test('own keys that look like prototypes are plain keys', () => {
  const schema = schemaOf({ additionalProperties: false, properties: { a: true } });
  expect(payloadMisfits(schema, '{"__proto__": 1}')[0]?.pointer).toBe('/__proto__');
  expect(payloadMisfits(schemaOf({ required: ['__proto__'] }), '{}')).toHaveLength(1);
});

const chain = (keyword: 'anyOf' | 'allOf' | 'oneOf', length: number): JsonSchema => ({
  $ref: '#/$defs/0',
  $defs: Object.fromEntries(
    Array.from({ length }, (_, at) => [
      String(at),
      at + 1 === length
        ? false
        : { [keyword]: [{ $ref: `#/$defs/${at + 1}` }, { $ref: `#/$defs/${at + 1}` }] },
    ]),
  ),
});

test.each<[string, JsonSchema, Json]>([
  ['alternatives that double', chain('anyOf', 60), 1],
  ['alternatives of oneOf that double', chain('oneOf', 60), 1],
  [
    'many lists over a long list',
    { allOf: Array.from({ length: 4_000 }, () => ({ uniqueItems: true })) },
    Array.from({ length: 50_000 }, (_, i) => i),
  ],
  ['a reference to itself', { $ref: '#' }, 1],
  [
    'a pattern on a long text',
    { items: { not: { pattern: '(a|aa|a*)*(a|aa)*(a*)*b' } } },
    Array.from({ length: 100 }, () => 'a'.repeat(100_000)),
  ],
])('the work for %s is limited', (_, schema, value) => {
  expect(misfits(schemaOf(schema), value)[0]?.problem).toContain('can be checked with less work');
});

test.each<[string, Json, string]>([
  [
    'a remote reference',
    { $ref: 'https://example.com/a.schema.json' },
    'neither in the workflow nor a JSON pointer',
  ],
  [
    'a file elsewhere',
    { $ref: '../../etc/a.schema.json' },
    'neither in the workflow nor a JSON pointer',
  ],
  [
    'an address of a file',
    { $ref: 'file:///etc/a.schema.json' },
    'neither in the workflow nor a JSON pointer',
  ],
  ['a bad escape', { $ref: '#/%' }, 'neither in the workflow nor a JSON pointer'],
  ['a missing part', { $ref: '#/$defs/a' }, 'but there is no schema'],
  ['a part that is no schema', { $ref: '#/properties', properties: {} }, 'but there is no schema'],
  ['a prototype', { $ref: '#/__proto__' }, 'but there is no schema'],
  ['a loop', { anyOf: [{ $ref: '#' }] }, 'leads back to itself'],
  [
    'a longer loop',
    {
      $ref: '#/$defs/a',
      $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
    },
    'leads back to itself',
  ],
])('the reference of %s is a fault', (_, schema, message) => {
  const faults = refFaults(new Map([['', readSchemaDocument(schema)]])).get('') ?? [];
  expect(faults[0]?.message).toContain(message);
});

test.each<[string, Json, string, string]>([
  ['a misspelled keyword', { requird: ['a'] }, '/requird', 'does not know the keyword "requird"'],
  [
    'a keyword without effect',
    { unevaluatedProperties: false },
    '/unevaluatedProperties',
    'does not know',
  ],
  [
    'a wrong type',
    { properties: { a: { type: 'text' } } },
    '/properties/a/type',
    'type must be one of',
  ],
  ['a list of items', { items: [true] }, '/items', 'items must be a schema'],
  ['a lookahead', { pattern: '(?=a)' }, '/pattern', 'a lookahead'],
  [
    'a huge pattern',
    { patternProperties: { '((a{100}){100}){100}': true } },
    '/patternProperties/((a{100}){100}){100}',
    'The pattern',
  ],
  ['a text', 'x', '', 'A schema must be a map'],
  [
    'an inner $id',
    { properties: { a: { $id: 'x' } } },
    '/properties/a/$id',
    'Only the whole document',
  ],
  [
    'thousands of parts',
    { allOf: Array.from({ length: 6_000 }, () => true) },
    '/allOf/4999',
    'more than 5000 parts',
  ],
])('a schema with %s is refused at its place', (_, schema, pointer, message) => {
  const [fault] = readSchemaDocument(schema).faults;
  expect(`/${fault?.path.join('/')}`).toBe(pointer || '/');
  expect(fault?.message).toContain(message);
});

/** ajv compiles schemas, which Raymond does not, but both must mean the same by them. */
const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false });

const value = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Json>(null, true, false, 0, 1, 2.5, -3, '', 'a', 'ab', 'aab'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'ab'), tie('value'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
})).value;

const small = fc.integer({ min: 0, max: 3 });
const types = fc.constantFrom('null', 'boolean', 'number', 'integer', 'string', 'array', 'object');
const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'ab'), { maxLength: 2 });

const schema = fc.letrec<{ schema: JsonSchema }>((tie) => {
  const inner = tie('schema');
  const list = fc.array(inner, { minLength: 1, maxLength: 3 });
  const map = fc.dictionary(fc.constantFrom('a', 'b', 'ab'), inner, {
    maxKeys: 2,
    noNullPrototype: true,
  });
  const keywords = fc.record(
    {
      type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
      enum: fc.array(value, { minLength: 1, maxLength: 3 }),
      const: value,
      multipleOf: fc.constantFrom(1, 2, 0.5),
      maximum: small,
      minimum: small,
      exclusiveMaximum: small,
      exclusiveMinimum: small,
      maxLength: small,
      minLength: small,
      pattern: fc.constantFrom('^a', 'b$', 'a+b', '.'),
      maxItems: small,
      minItems: small,
      uniqueItems: fc.boolean(),
      prefixItems: list,
      items: inner,
      contains: inner,
      minContains: small,
      maxContains: small,
      maxProperties: small,
      minProperties: small,
      required: names,
      properties: map,
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b'), inner, {
        maxKeys: 2,
        noNullPrototype: true,
      }),
      additionalProperties: inner,
      propertyNames: inner,
      dependentRequired: fc.dictionary(fc.constantFrom('a', 'b'), names, {
        maxKeys: 2,
        noNullPrototype: true,
      }),
      dependentSchemas: map,
      allOf: list,
      anyOf: list,
      oneOf: list,
      not: inner,
      if: inner,
      // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
      then: inner,
      else: inner,
      $ref: fc.constantFrom('#/$defs/a', '#/$defs/b'),
    },
    { requiredKeys: [] },
  );
  const few = keywords.chain((all) =>
    fc
      .subarray(Object.keys(all), { maxLength: 4 })
      .map((keys) => Object.fromEntries(Object.entries(all).filter(([key]) => keys.includes(key)))),
  );
  return { schema: fc.oneof({ maxDepth: 3 }, fc.boolean(), few) as fc.Arbitrary<JsonSchema> };
}).schema;

test('any schema means the same as for ajv', () => {
  const plain = { a: { type: ['string', 'array'] }, b: { minimum: 1, minLength: 2 } };
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 1, maxLength: 4 }), (root, values) => {
      // Beside `prefixItems`, ajv does not ask whether an empty list contains anything.
      const text = JSON.stringify(root);
      fc.pre(!(text.includes('"prefixItems"') && text.includes('"contains"')));
      const whole = { allOf: [root], $defs: plain };
      expect(readSchemaDocument(whole).faults).toEqual([]);
      const isValid = ajv.compile(whole);
      ajv.removeSchema();
      for (const one of values)
        expect(misfits(schemaOf(whole), one).length === 0).toBe(isValid(one));
    }),
    { numRuns: 200 },
  );
});

test('reading and checking never throw, whatever the schema and the payload are', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.oneof(fc.json(), fc.string()), (root, payload) => {
      const { root: read } = readSchemaDocument(root as Json);
      payloadMisfits(schemaOf(read), payload);
    }),
  );
});
