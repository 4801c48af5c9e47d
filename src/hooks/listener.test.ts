import { createConnection } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import {
  type ListenerLimits,
  type Receive,
  type ReceivedRequest,
  type RunningListener,
  startListener,
} from './listener.ts';

let listener: RunningListener | undefined;
afterEach(() => listener?.close());

async function listen(receive: Receive, limits: Partial<ListenerLimits> = {}) {
  listener = await startListener({ host: '127.0.0.1', port: 0 }, receive, limits);
  return `http://127.0.0.1:${listener.address.port}`;
}

const taken: Receive = async () => ({ status: 202, body: { status: 'taken' } });

const post = (address: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${address}/hooks/a`, {
    ...{ method: 'POST', body },
    headers: { 'content-type': 'application/json', ...headers },
  });

const errorOf = async (response: Response) =>
  `${response.status} ${((await response.json()) as { error: { code: string } }).error.code}`;

test('a delivery reaches the receiver byte by byte, without the query of its address', async () => {
  const seen: ReceivedRequest[] = [];
  const address = await listen(async (request) => {
    seen.push(request);
    return { status: 202, body: { status: 'taken' } };
  });
  const response = await fetch(`${address}/hooks/a?b=c`, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', 'x-a': 'b' },
    body: '{"ü": 1}',
  });
  expect([response.status, await response.json()]).toEqual([202, { status: 'taken' }]);
  expect(seen).toMatchObject([{ path: '/hooks/a', headers: { 'x-a': 'b' } }]);
  expect(seen[0]?.body.toString()).toBe('{"ü": 1}');
});

test('only POST with JSON is taken', async () => {
  const address = await listen(taken);
  const get = await fetch(`${address}/hooks/a`);
  expect([get.headers.get('allow'), await errorOf(get)]).toEqual(['POST', '405 not-post']);
  // What a browser asks before a page may send JSON to another site.
  expect((await fetch(`${address}/hooks/a`, { method: 'OPTIONS' })).status).toBe(405);
  expect(await errorOf(await post(address, '{}', { 'content-type': 'text/plain' }))).toBe(
    '415 not-json',
  );
  expect(await errorOf(await post(address, '{}', { 'content-encoding': 'gzip' }))).toBe(
    '415 not-json',
  );
});

test('a body over the limit is refused, whether or not it says its length', async () => {
  const address = await listen(taken, { bodyBytes: 1_000 });
  expect((await post(address, 'x'.repeat(1_000))).status).toBe(202);
  expect(await errorOf(await post(address, 'x'.repeat(1_001)))).toBe('413 too-large');
  const chunks = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let n = 0; n < 11; n++) controller.enqueue(Buffer.alloc(100, 'x'));
      controller.close();
    },
  });
  const chunked = await fetch(`${address}/hooks/a`, {
    ...{ method: 'POST', body: chunks, duplex: 'half' },
    headers: { 'content-type': 'application/json' },
  } as RequestInit);
  expect(await errorOf(chunked)).toBe('413 too-large');
  // The reply also arrives if the sender sends all of it before it reads.
  expect(await errorOf(await post(address, 'x'.repeat(8_000_000)))).toBe('413 too-large');
});

test('all bodies together stay within the memory, and later deliveries are taken again', async () => {
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  let inside = 0;
  const address = await listen(
    async () => {
      inside++;
      await held;
      return { status: 202, body: {} };
    },
    { memoryBytes: 1_000 },
  );
  const first = post(address, 'x'.repeat(900));
  await expect.poll(() => inside).toBe(1);
  const second = await post(address, 'x'.repeat(200));
  expect(second.headers.get('retry-after')).toBe('10');
  expect(await errorOf(second)).toBe('503 busy');
  go();
  expect((await first).status).toBe(202);
  expect((await post(address, 'x'.repeat(200))).status).toBe(202);
});

test('a receiver that fails asks the sender to come again, and says nothing else', async () => {
  const address = await listen(() => Promise.reject(new Error('ENOSPC: /home/ann/secret')));
  const response = await post(address, '{}');
  expect(response.status).toBe(503);
  expect(await response.text()).not.toContain('ann');
});

/** Sends raw bytes and gives everything that comes back until the connection ends. */
function raw(address: string, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(Number(new URL(address).port), '127.0.0.1');
    let text = '';
    socket.on('data', (data) => {
      text += data;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
    socket.write(bytes);
  });
}

test('requests that are malformed, too slow or have too large headers get a reply and an end', async () => {
  const address = await listen(taken, { headersMs: 100, requestMs: 100 });
  expect(await raw(address, 'no HTTP\r\n\r\n')).toMatch(/^HTTP\/1.1 400 .*"bad-request"/s);
  const large = `POST / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`;
  expect(await raw(address, large)).toMatch(/^HTTP\/1.1 431 .*"too-large"/s);
  const slowHead = 'POST /hooks/a HTTP/1.1\r\nHost: a\r\n';
  expect(await raw(address, slowHead)).toMatch(/^HTTP\/1.1 408 .*"too-slow"/s);
  const slowBody = `${slowHead}Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{`;
  expect(await raw(address, slowBody)).toMatch(/^HTTP\/1.1 408 .*"too-slow"/s);
  const smuggled = `${slowHead}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`;
  expect(await raw(address, smuggled)).toMatch(/^HTTP\/1.1 400 /);
  expect((await post(address, '{}')).status).toBe(202);
});

test('deliveries that have come are answered before the listener ends', async () => {
  let go = () => {};
  let inside = 0;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  const address = await listen(async () => {
    inside++;
    await held;
    return { status: 202, body: {} };
  });
  const reply = post(address, '{}');
  await expect.poll(() => inside).toBe(1);
  const closed = listener?.close();
  listener = undefined;
  await expect(post(address, '{}')).rejects.toThrow();
  go();
  expect((await reply).status).toBe(202);
  await closed;
});
