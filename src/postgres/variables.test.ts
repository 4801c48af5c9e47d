import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { completeUrl, takeVariables } from './variables.ts';

test('takes the variables of PostgreSQL from an environment, and no others', () => {
  const others = { PATH: '/', APGX: 'y', PG: 'p', PG_COLOR: 'auto' };
  const environment = { PGPASSWORD: 'x', PGSERVICE: 's', PGUSER: '', ...others };
  expect(Object.fromEntries(takeVariables(environment))).toEqual({
    PGPASSWORD: 'x',
    PGSERVICE: 's',
  });
  expect(environment).toEqual(others);
});

const ALL = {
  PGUSER: 'u u',
  PGPASSWORD: 'p&?',
  PGHOST: '/run/pg',
  PGPORT: '77',
  PGDATABASE: 'd d',
};

test.each([
  [
    'postgres://',
    ALL,
    { user: 'u u', password: 'p&?', host: '/run/pg', port: 77, database: 'd d' },
  ],
  [
    'postgres:///',
    ALL,
    { user: 'u u', password: 'p&?', host: '/run/pg', port: 77, database: 'd d' },
  ],
  [
    'postgres://a:b@h:1/c',
    ALL,
    { user: 'a', password: 'b', host: 'h', port: 1, database: 'c', ssl: false },
  ],
  ['postgres://a@/c', ALL, { user: 'a', password: 'p&?', host: '/run/pg', database: 'c' }],
  ['postgres://h/c?user=a', ALL, { user: 'a', password: 'p&?', host: 'h', database: 'c' }],
  ['postgres://h/c', { PGSSLMODE: 'no-verify' }, { ssl: { rejectUnauthorized: false } }],
  ['postgres://h/c?sslmode=disable', { PGSSLMODE: 'no-verify' }, { ssl: false }],
  ['postgres://h/c', { PGSSLMODE: 'allow' }, { ssl: false }],
])('%s with %j', (url, variables, expected) => {
  const complete = completeUrl(url, new Map(Object.entries(variables)));
  expect(new pg.Client({ connectionString: complete })).toMatchObject({
    connectionParameters: expected,
  });
});

test('no variables leave the URL as it is', () => {
  expect(completeUrl('postgres://h/d', new Map())).toBe('postgres://h/d');
  expect(completeUrl('no URL', new Map([['PGUSER', 'u']]))).toBe('no URL');
});

test('finds the password in the file that a variable names, if only the user can read it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pgpass-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'pass');
  writeFileSync(file, '# h:1:c:a:no\nx:1:c:a:no\nh:*:c:a:s\\:e\\\\cret\n*:*:*:*:last\n', {
    mode: 0o600,
  });
  const password = (url: string, path = file) =>
    new pg.Client({ connectionString: completeUrl(url, new Map([['PGPASSFILE', path]])) }).password;
  expect(password('postgres://a@h:1/c')).toBe('s:e\\cret');
  expect(password('postgres://b@h:1/c')).toBe('last');
  expect(password('postgres://a:own@h:1/c')).toBe('own');
  expect(password('postgres://a@h:1/c', join(folder, 'none'))).toBeNull();
  writeFileSync(join(folder, 'open'), '*:*:*:*:last\n', { mode: 0o644 });
  expect(password('postgres://a@h:1/c', join(folder, 'open'))).toBeNull();
});
