import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cleaner, cleanText } from './cleaner.ts';

const TOKEN = 'ghp_q8/Zr+7"x\\y ä€&z';
const KEY = [
  '-----BEGIN KEY-----',
  'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC',
  'k2Jx7r0pQm3n5uY1w8Zt',
  '-----END KEY-----',
].join('\n');
const LONG =
  'github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabc';

const one = (value: string) => new Map([['TOKEN', value]]);

test.each<[string, (value: string) => string]>([
  ['as it is', (value) => value],
  ['in JSON', (value) => JSON.stringify({ value })],
  ['in JSON in JSON', (value) => JSON.stringify({ text: JSON.stringify({ value }) })],
  ['in JSON with only ASCII', (value) => ascii(JSON.stringify(value))],
  ['in a URL', (value) => `https://a.org/?t=${encodeURIComponent(value)}&x`],
  ['in a form', (value) => new URLSearchParams({ value }).toString()],
  ['in an attribute', (value) => `<goto input="${attribute(value)}">X</goto>`],
  ['in base64', (value) => Buffer.from(value).toString('base64')],
  ['in base64 after one byte', (value) => Buffer.from(`:${value}`).toString('base64')],
  ['in base64 between others', (value) => Buffer.from(`me:${value}-`).toString('base64')],
  ['in base64 for URLs', (value) => Buffer.from(`x${value}?`).toString('base64url')],
  ['in base64 with lines', (value) => wrapped(Buffer.from(value).toString('base64'), 20)],
  ['in such lines in JSON', (value) => JSON.stringify(wrapped(base64(value), 20))],
  ['in hex', (value) => Buffer.from(value).toString('hex')],
  ['in hex with lines', (value) => wrapped(Buffer.from(value).toString('hex').toUpperCase(), 30)],
])('a secret %s is removed, wherever the output is split', (_, form) => {
  for (const value of [TOKEN, LONG, KEY]) {
    const printed = `before ${form(value)} after`;
    const cleaned = cleanText(one(value), printed);
    expect(cleaned).toMatch(/^before .*\[secret TOKEN\].* after$/s);
    // What is left of it says nothing: base64 shares its outermost characters with the neighbours.
    expect(cleaned.length).toBeLessThan(printed.length - form(value).length + 45);
    expect(splitAnywhere(one(value), printed)).toEqual(new Set([cleaned]));
  }
});

test('the lines of a secret are removed one by one, but not its frame', () => {
  const printed = KEY.replaceAll(/^/gm, '12:00 ');
  expect(cleanText(one(KEY), printed)).toBe(
    [
      '12:00 -----BEGIN KEY-----',
      '12:00 [secret TOKEN]',
      '12:00 [secret TOKEN]',
      '12:00 -----END KEY-----',
    ].join('\n'),
  );
});

test('where one secret contains another, the longer one is named and nothing is left', () => {
  const secrets = new Map([
    ['SHORT', 'abcdefgh'],
    ['LONG', 'xxabcdefghyy'],
    ['BESIDE', 'ghyyzzzzz'],
  ]);
  expect(cleanText(secrets, 'xxabcdefghyy abcdefgh')).toBe('[secret LONG] [secret SHORT]');
  expect(cleanText(secrets, '.xxabcdefghyyzzzzz.')).toBe('.[secret LONG].');
});

test('text without a secret passes at once and unchanged, even if it resembles one', () => {
  const { push, end } = cleaner(one('abababac'));
  expect(push(Buffer.from('abababab x\n')).toString()).toBe('abababab x\n');
  expect(push(Buffer.from('abab')).toString()).toBe('');
  expect(push(Buffer.from('ab\n')).toString()).toBe('ababab\n');
  expect(end().toString()).toBe('');
});

test('any bytes without a secret pass unchanged, and with one they lose it', () => {
  const value = 'aabaabaa';
  const parts = fc.array(fc.constantFrom('a', 'b', 'aab', value, '\n', '\\'), { maxLength: 40 });
  fc.assert(
    fc.property(parts, (texts) => {
      const { push, end } = cleaner(one(value));
      const out = Buffer.concat([...texts.map((text) => push(Buffer.from(text))), end()]);
      const cleaned = out.toString();
      expect(cleaned).not.toContain(value);
      if (!texts.join('').includes(value)) expect(cleaned).toBe(texts.join(''));
      expect(cleaned).toBe(cleanText(one(value), texts.join('')));
    }),
  );
});

test('the work grows with the length of the output, not faster', () => {
  // Each byte continues a match or begins one, and none is complete.
  const value = `${'a'.repeat(2000)}b`;
  const text = 'a'.repeat(4_000_000);
  expect(cleanText(one(value), text)).toBe(text);
});

const attribute = (value: string) => value.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

const base64 = (value: string) => Buffer.from(value).toString('base64');

const wrapped = (text: string, width: number) =>
  text.replaceAll(new RegExp(`.{${width}}`, 'g'), '$&\n');

const ascii = (text: string) =>
  text.replaceAll(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

function splitAnywhere(secrets: ReadonlyMap<string, string>, text: string): ReadonlySet<string> {
  const bytes = Buffer.from(text);
  const all = new Set<string>();
  for (let at = 0; at <= bytes.length; at += 1) {
    const { push, end } = cleaner(secrets);
    const parts = [push(bytes.subarray(0, at)), push(bytes.subarray(at)), end()];
    all.add(Buffer.concat(parts).toString());
  }
  return all;
}
