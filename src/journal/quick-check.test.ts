import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { fromSchema } from '../../test/properties/from-schema.ts';
import { runEventSchema } from '../model/event.ts';
import { quickCheck } from './quick-check.ts';
import { stateFileSchema } from './state-file-schema.ts';

const isEvent = quickCheck(runEventSchema);
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** The arbitrary does not know every bound of the schema. */
const event = fromSchema(runEventSchema).filter((one) => z.safeParse(runEventSchema, one).success);

test('accepts every event, so that no kind of event is slow to read', () => {
  fc.assert(fc.property(event, (one) => isEvent(asJson(one))));
});

const part = fc.oneof(fc.constantFrom('x', '', 0, 1, -1, 0.5, true, null, [], {}), fc.jsonValue());

/** The length of an array takes only some values, and is no key of its JSON. */
const newKey = fc.string().filter((key) => key !== 'length');

test('accepts only what the schema accepts and returns unchanged', () => {
  let accepted = 0;
  fc.assert(
    fc.property(event, fc.nat(), part, newKey, (one, where, other, key) => {
      for (const changed of changes(one, where, other, key)) {
        if (!isEvent(changed)) continue;
        accepted += 1;
        expect(z.safeParse(runEventSchema, changed)).toEqual({ success: true, data: changed });
      }
    }),
    { numRuns: 1000 },
  );
  expect(accepted).toBeGreaterThan(0);
});

/** The value with one other part, without one part, and with one more. */
function changes(value: unknown, where: number, other: unknown, key: string): readonly unknown[] {
  return ['replace', 'remove', 'add'].map((how) => {
    const copy = asJson(value);
    const parents = objectsIn(copy);
    const parent = parents[where % parents.length] ?? {};
    const names = Object.keys(parent);
    const name = names[where % names.length] ?? key;
    if (how === 'remove') delete parent[name];
    else parent[how === 'add' ? key : name] = other;
    return asJson(copy);
  });
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  if (!isObject(value)) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

const text = z.object({ a: z.string() });

test.each([
  ['an unknown key', text, { a: 'x', b: 1 }],
  ['a missing key', text, {}],
  ['an array in place of an object', text, []],
  ['null', text, null],
  [
    'a key that names the prototype',
    z.record(z.string(), z.string()),
    JSON.parse('{"__proto__":"x"}'),
  ],
  ['a number that JSON cannot express', z.number(), JSON.parse('1e999')],
  ['an integer that is not safe', z.int(), 2 ** 53],
  ['a number below its bound', z.int().check(z.nonnegative()), -1],
  ['a number above its bound', z.int().check(z.lte(5)), 6],
  ['a text that is too short', z.string().check(z.minLength(1)), ''],
  ['an empty place of an optional value', z.optional(z.string()), null],
  [
    'an unknown name of a variant',
    z.discriminatedUnion('k', [z.object({ k: z.literal('a') })]),
    { k: 'b' },
  ],
] as const)('rejects %s', (_, schema, value) => {
  expect(quickCheck(schema)(value)).toBe(false);
});

test.each([
  ['a catch', z.catch(z.string(), ''), 'x'],
  ['a default', z._default(z.string(), ''), 'x'],
  [
    'a transformation',
    z.pipe(
      z.string(),
      z.transform((x) => x.length),
    ),
    'x',
  ],
  ['a rule of its own', z.string().check(z.refine(() => true)), 'x'],
  ['a rule for an object', z.object({}).check(z.refine(() => true)), {}],
  ['a bound that is not included', z.number().check(z.positive()), 1],
  ['a form of text', z.email(), 'a@b.example'],
  ['a form of number', z.int32(), 1],
  ['an object that keeps other keys', z.looseObject({}), {}],
  ['a trimmed text', z.string().check(z.trim()), 'x'],
] as const)('leaves %s to the schema', (_, schema, value) => {
  expect(z.safeParse(schema, value).success).toBe(true);
  expect(quickCheck(schema)(value)).toBe(false);
});

test('keys beside those of the schema are allowed only where they are named', () => {
  const inner = z.object({ a: text });
  expect(quickCheck(inner, ['seq'])({ a: { a: 'x' }, seq: 1 })).toBe(true);
  expect(quickCheck(inner, ['seq'])({ a: { a: 'x' } })).toBe(true);
  expect(quickCheck(inner, ['seq'])({ a: { a: 'x', seq: 1 } })).toBe(false);
  expect(quickCheck(inner, ['seq'])({ a: { a: 'x' }, other: 1 })).toBe(false);
});

test('accepts null where the schema does', () => {
  expect(quickCheck(stateFileSchema.shape.result)(null)).toBe(true);
  expect(quickCheck(stateFileSchema.shape.result)('x')).toBe(true);
});
