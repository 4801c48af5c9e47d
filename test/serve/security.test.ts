// Requests that a page of another site, another user of this machine or a program without the token
// could send, to every route of the router itself: a new route cannot be forgotten.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { appFor } from '../../src/serve/app.ts';
import { PUBLIC_FILES } from '../../src/serve/gate.ts';
import { ROUTES } from '../../src/serve/routes.ts';
import { type RunningServer, startServer } from '../../src/serve/server.ts';
import { Project } from '../raymond.ts';
import { type Answer, type Ask, ask, partsFor } from './in-process.ts';

const project = new Project({ 'ask/START.sh': 'echo "<result>ok</result>"' });
let server: RunningServer;
let other: RunningServer;
/** As the router has them: the table could say something else. */
let routes: readonly { readonly method: string; readonly path: string }[];

beforeAll(async () => {
  const parts = await partsFor(project);
  server = await startServer(parts, 0);
  other = await startServer(parts, 0);
  const app = appFor(parts, { port: 1, token: 't' });
  routes = app.hono.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => ({ method, path: path.replace(/:\w+/g, '1') }));
});

afterAll(async () => {
  await Promise.all([server.close(), other.close()]);
  await project.dispose();
});

const host = () => `127.0.0.1:${server.port}`;
const origin = () => `http://${host()}`;
const bearer = () => ({ authorization: `Bearer ${server.token}` });

/** The headers of an honest request, changed. An empty text removes a header. */
function sent(method: string, changes: Readonly<Record<string, string>>): Record<string, string> {
  const honest = {
    host: host(),
    ...bearer(),
    ...(method === 'GET' ? {} : { origin: origin(), 'content-type': 'application/json' }),
  };
  return Object.fromEntries(
    Object.entries({ ...honest, ...changes }).filter(([, value]) => value !== ''),
  );
}

async function toEvery(
  changes: (method: string) => Readonly<Record<string, string>>,
  isMeant: (path: string) => boolean = () => true,
): Promise<readonly (Answer & { readonly route: string })[]> {
  const meant = routes.filter(({ path }) => isMeant(path));
  expect(meant.length).toBeGreaterThan(10);
  return Promise.all(
    meant.map(async ({ method, path }) => {
      const headers = sent(method, changes(method));
      const body = method === 'GET' ? {} : { body: '{}' };
      return {
        route: `${method} ${path}`,
        ...(await ask({ ...at(path), method, headers, ...body })),
      };
    }),
  );
}

const at = (path: string): Ask => ({ port: server.port, path });
const isApi = (path: string) => path.startsWith('/api');
const refusedWith = (answers: readonly Answer[]) => [
  ...new Set(answers.map(({ status }) => status)),
];

test('the router has the routes of the table and the files of the page, and no others', () => {
  const table = Object.values(ROUTES).map(({ method, path }) => ({
    method,
    path: path.replace(/:\w+/g, '1'),
  }));
  const files = Object.keys(PUBLIC_FILES).map((path) => ({ method: 'GET', path }));
  expect(routes).toEqual([...table, ...files]);
});

test('an honest request passes the check on every route', async () => {
  const answers = await toEvery(() => ({}));
  expect(answers.filter(({ status }) => [401, 403].includes(status))).toEqual([]);
});

describe('every route of the API refuses', () => {
  const TOKENS: readonly (readonly [string, () => string])[] = [
    ['no token', () => ''],
    ['another token', () => `Bearer ${other.token}`],
    ['the beginning of the token', () => `Bearer ${server.token.slice(0, -1)}`],
    ['a longer token', () => `Bearer ${server.token}A`],
    ['the token of another scheme', () => `Basic ${server.token}`],
    ['an empty token', () => 'Bearer '],
  ];
  test.each(TOKENS)('%s', async (_what, authorization) => {
    const answers = await toEvery(() => ({ authorization: authorization() }), isApi);
    expect(refusedWith(answers)).toEqual([401]);
  });

  test('the token anywhere else than in its header', async () => {
    const { port, token } = server;
    for (const elsewhere of [
      { cookie: `token=${token}` },
      { cookie: `raymond-${port}=${token}; authorization=Bearer ${token}` },
      { 'x-token': token, 'proxy-authorization': `Bearer ${token}` },
      { authorization: `Bearer ${other.token}, Bearer ${token}` },
    ]) {
      const answers = await toEvery(() => ({ authorization: '', ...elsewhere }), isApi);
      expect(refusedWith(answers)).toEqual([401]);
    }
    for (const query of [
      `token=${token}`,
      `access_token=${token}`,
      `authorization=Bearer+${token}`,
    ])
      expect(
        await ask({ ...at(`/api/runs?${query}`), headers: sent('GET', { authorization: '' }) }),
      ).toMatchObject({ status: 401 });
  });

  test('a switch to another protocol', async () => {
    const headers = { authorization: '', connection: 'upgrade', upgrade: 'websocket' };
    const answers = await toEvery(() => headers, isApi);
    expect(refusedWith(answers)).toEqual([401]);
  });

  test.each(['cross-site', 'same-site'])('a request of another page (%s)', async (site) => {
    const answers = await toEvery(() => ({ 'sec-fetch-site': site }), isApi);
    expect(refusedWith(answers)).toEqual([403]);
  });
});

const HOSTS: readonly (readonly [string, () => string])[] = [
  ['a name that resolves to this machine', () => `evil.example:${server.port}`],
  ['localhost', () => `localhost:${server.port}`],
  ['the address without the port', () => '127.0.0.1'],
  ['another port', () => `127.0.0.1:${other.port}`],
  ['another form of the address', () => `127.1:${server.port}`],
  ['a longer form of the address', () => `127.0.0.1.:${server.port}`],
  ['all addresses', () => `0.0.0.0:${server.port}`],
  ['the address of another family', () => `[::1]:${server.port}`],
  ['a longer name', () => `127.0.0.1:${server.port}.evil.example`],
  ['a name before the address', () => `evil@127.0.0.1:${server.port}`],
];

test.each(HOSTS)('every route and file refuses the host: %s', async (_what, name) => {
  const answers = await toEvery((method) => ({
    host: name(),
    ...(method === 'GET' ? {} : { origin: `http://${name()}` }),
  }));
  for (const { status } of answers) expect([400, 403]).toContain(status);
});

const ORIGINS: readonly (readonly [string, () => string])[] = [
  ['another site', () => 'http://evil.example'],
  ['no origin of a page', () => 'null'],
  ['another port', () => `http://127.0.0.1:${other.port}`],
  ['another name of this machine', () => `http://localhost:${server.port}`],
  ['another scheme', () => `https://127.0.0.1:${server.port}`],
  ['a longer origin', () => `${origin()}.evil.example`],
];

test.each(ORIGINS)('every route and file refuses the origin: %s', async (_what, name) => {
  const answers = await toEvery(() => ({ origin: name() }));
  expect(refusedWith(answers)).toEqual([403]);
});

test('a change needs an origin', async () => {
  const changes = routes.filter(({ method }) => method !== 'GET');
  expect(changes.length).toBeGreaterThan(3);
  for (const { method, path } of changes) {
    const headers = sent(method, { origin: '' });
    expect(await ask({ ...at(path), method, headers, body: '{}' })).toMatchObject({ status: 403 });
  }
});

test('without the token, only the files of the page can be read, and they have no data', async () => {
  for (const path of Object.keys(PUBLIC_FILES))
    expect(await ask({ ...at(path), headers: { host: host() } })).toMatchObject({ status: 200 });
  const others = [
    '/page/',
    '/page/x.js',
    '/index.html',
    '/page/../package.json',
    '/%2e%2e/x',
    '/x',
  ];
  for (const path of others)
    expect(await ask({ ...at(path), headers: { host: host() } })).toMatchObject({ status: 401 });
  for (const path of others)
    expect(await ask({ ...at(path), headers: sent('GET', {}) })).toMatchObject({ status: 404 });
});

test('every file of the page that is built is served', () => {
  const built = readdirSync(join(import.meta.dirname, '..', '..', 'dist', 'page'));
  expect(built.sort()).toEqual(Object.values(PUBLIC_FILES).toSorted());
});

test('every answer forbids to frame, sniff, keep and share it and sets no cookie, whether it is refused or not', async () => {
  const answers = [
    ...(await toEvery(() => ({}))),
    ...(await toEvery(() => ({ authorization: '' }))),
    ...(await toEvery(() => ({ origin: 'http://evil.example' }))),
    await ask({ ...at('/nothing'), headers: sent('GET', {}) }),
    await ask({
      ...at('/api/runs'),
      method: 'OPTIONS',
      headers: {
        host: host(),
        origin: 'http://evil.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    }),
  ];
  for (const { headers, text } of answers) {
    expect(headers['set-cookie']).toBeUndefined();
    expect(text).not.toContain(server.token);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      // Only the files of the page have no data.
      'cache-control': text.startsWith('the file ') ? 'no-cache' : 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    });
    const policy = `${headers['content-security-policy']}`;
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  }
});

describe('hostile requests', () => {
  const IDS = ['..', '%2e%2e', '..%2F..%2Fetc%2Fpasswd', '%00', '__proto__', 'constructor', '%ff'];
  const LONG = 'x'.repeat(5_000);
  test.each([...IDS, '.git', '%F0%9F%92%A9', '%E2%80%AE', LONG])('the id %.20s', async (id) => {
    for (const rest of [
      '',
      '/events',
      '/graph',
      '/forecast',
      '/steps/main/1',
      `/steps/${id}/1/live`,
    ]) {
      const { status, text } = await ask({
        ...at(`/api/runs/${id}${rest}`),
        headers: sent('GET', {}),
      });
      expect([400, 404]).toContain(status);
      expect(text).not.toContain('root:');
    }
  });

  const BODIES: readonly (readonly [string, string, Readonly<Record<string, string>>, number])[] = [
    ['no JSON', '{', {}, 400],
    ['no object', '[]', {}, 400],
    ['another type', '{"workflow":1}', {}, 400],
    ['an unknown key', '{"workflow":"ask","shell":"x"}', {}, 400],
    ['a form', 'workflow=ask', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['a text', '{"workflow":"ask"}', { 'content-type': 'text/plain' }, 415],
    ['too much', JSON.stringify({ workflow: 'x'.repeat(1_100_000) }), {}, 413],
    ['a variable with "="', '{"workflow":"ask","set":{"a=b":"c"}}', {}, 400],
    ['a workflow elsewhere', '{"workflow":"/etc"}', {}, 403],
    ['a dangerous option', '{"workflow":"ask","permission_mode":"bypassPermissions"}', {}, 400],
  ];
  test.each(BODIES)('a body with %s', async (_what, body, changes, status) => {
    const headers = sent('POST', changes);
    const answer = await ask({ ...at('/api/runs'), method: 'POST', headers, body });
    expect(answer).toMatchObject({ status });
    expect(JSON.parse(answer.text)).toEqual({
      error: { code: expect.any(String), message: expect.any(String), remedy: expect.any(String) },
    });
  });

  test.each(['after=-1', 'after=x', 'after=1e3', 'after=999999999999999999999'])(
    'the position %s',
    async (query) => {
      const path = `/api/runs/none/events?${query}`;
      expect(await ask({ ...at(path), headers: sent('GET', {}) })).toMatchObject({ status: 400 });
    },
  );

  test('a status that no run can have', async () => {
    const path = '/api/runs?status=%3Cscript%3E';
    expect(await ask({ ...at(path), headers: sent('GET', {}) })).toMatchObject({ status: 400 });
  });
});
