import { describe, expect, it } from 'vitest';
import { ageOf, type Login, readLogin } from './health.ts';

describe('the age of a version', () => {
  it.each([
    ['2.1.196', 'older'],
    ['1.9.999', 'older'],
    ['2.0.400', 'older'],
    ['2.1.197', 'tested'],
    ['2.1.276', 'tested'],
    ['2.1.325', 'tested'],
    ['2.1.1000', 'newer'],
    ['2.2.0', 'newer'],
    ['10.0.0', 'newer'],
    [undefined, 'unknown'],
  ])('%s: %s', (version, age) => {
    expect(ageOf(version)).toBe(age);
  });
});

describe('the login', () => {
  const rows: [string, Login][] = [
    ['{"loggedIn":true,"authMethod":"api_key"}', { kind: 'yes', how: 'api_key' }],
    ['{\n  "loggedIn": false,\n  "authMethod": "none"\n}', { kind: 'no' }],
    ['{}', { kind: 'unknown' }],
    ['error: unknown command', { kind: 'unknown' }],
    ['', { kind: 'unknown' }],
  ];
  it.each(rows)('%j', (status, login) => {
    expect(readLogin(status)).toEqual(login);
  });
});
