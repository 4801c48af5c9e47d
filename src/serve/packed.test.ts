import { constants, gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { packed, packer, takesGzip } from './packed.ts';

test.each([
  ['gzip, deflate, br', true],
  ['br, gzip;q=0.5', true],
  ['gzip;q=0', false],
  ['gzip;q=0.0, br', false],
  ['x-gzip', false],
  [undefined, false],
])('%s takes gzip: %s', (accepted, takes) => {
  expect(takesGzip(accepted)).toBe(takes);
});

const long = () => Response.json({ text: 'words '.repeat(1_000) });

test('a long answer is packed for a caller who takes that, and for no other', async () => {
  const made = await packed(long(), { accepted: 'gzip', known: undefined });
  const bytes = Buffer.from(await made.arrayBuffer());
  expect(bytes.length).toBeLessThan(300);
  expect(gunzipSync(bytes).toString()).toBe(await long().text());
  expect(made.headers.get('content-encoding')).toBe('gzip');
  const plain = await packed(long(), { accepted: undefined, known: undefined });
  expect(plain.headers.get('content-encoding')).toBe(null);
  expect(await plain.text()).toBe(await long().text());
});

test('a caller who knows the answer gets no body', async () => {
  const first = await packed(long(), { accepted: 'gzip', known: undefined });
  const tag = first.headers.get('etag') ?? '';
  const again = await packed(long(), { accepted: 'gzip', known: `W/"other", ${tag}` });
  expect([again.status, await again.text()]).toEqual([304, '']);
  const other = await packed(Response.json({}), { accepted: 'gzip', known: tag });
  expect(other.status).toBe(200);
  const problem = await packed(new Response('no', { status: 404 }), { accepted: '', known: tag });
  expect([problem.status, problem.headers.get('etag')]).toEqual([404, null]);
});

test('each event of a stream can be read before the next one is made', async () => {
  const pack = packer();
  const sent: Uint8Array[] = [];
  const readable = () =>
    gunzipSync(Buffer.concat(sent), { finishFlush: constants.Z_SYNC_FLUSH }).toString();
  const event = `data: ${JSON.stringify({ agents: Array.from({ length: 50 }, (_, n) => `a${n}`) })}\n\n`;
  sent.push(await pack(event));
  expect(readable()).toBe(event);
  sent.push(await pack(event));
  expect(readable()).toBe(event + event);
  // It repeats the one before it.
  expect(sent[1]?.length).toBeLessThan(40);
});
