// Deliveries through what the guide puts in front of `raymond up`, with the configuration of the guide.
import { connect as connectPlainly } from 'node:net';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { takeDeliveries } from '../../src/app/take-deliveries.ts';
import { type RunningListener, startListener } from '../../src/hooks/listener.ts';
import type { WebhookTrigger } from '../../src/model/trigger.ts';
import {
  addressOf,
  curl,
  type Front,
  HOST,
  reachedBy,
  startCaddy,
  startNginx,
  startTunnel,
} from './proxies.ts';
import { githubHeaders, type SignedHeaders, standardHeaders } from './up.ts';

const SECRET = "It's a Secret to Everybody";

describe.each([
  ['nginx', startNginx],
  ['Caddy', startCaddy],
  ['a tunnel of ssh', startTunnel],
])('behind %s', (_name, start) => {
  const recorded: string[] = [];
  const reported: string[] = [];
  let listener: RunningListener;
  let proxy: Front;

  beforeAll(async () => {
    const found = {
      key: { project: '/p', workflow: '/p/flow', name: 'webhook issues' },
      ...{ path: 'flow', workflowName: 'flow', isApproved: true },
    };
    const trigger: WebhookTrigger = {
      ...{ kind: 'webhook', name: 'issues', secret: 'S', match: {}, overlap: 'queue' },
    };
    const receive = takeDeliveries({
      webhooks: () => new Map([['issues', { ...found, trigger }]]),
      record: async (_, { id, text }) => {
        const delivery = `${id} ${text}`;
        if (recorded.includes(delivery)) return 'known';
        recorded.push(delivery);
        return 'recorded';
      },
      secret: async () => SECRET,
      now: Date.now,
      report: (text) => reported.push(text),
    });
    listener = await startListener({ host: '127.0.0.1', port: 0 }, receive);
    proxy = await start(listener.address.port);
  });
  afterAll(async () => {
    await proxy?.stop();
    await listener?.close();
  });

  const headers = (named: Readonly<Record<string, string>>) =>
    Object.entries({ 'content-type': 'application/json', ...named }).flatMap(([name, value]) => [
      '-H',
      `${name}: ${value}`,
    ]);

  const STATUS = ['-w', '%{http_code}', '-o', '/dev/null'];

  function post(body: string, named: Readonly<Record<string, string>>, path = '/hooks/issues') {
    const args = [...STATUS, '--http1.1', '--path-as-is', ...headers(named), '--data-binary', '@-'];
    return curl(proxy, [...args, `${addressOf(proxy)}${path}`], body);
  }

  const github = (id: string, body: string, secret = SECRET) => githubHeaders(secret, id, body);
  const standard = (id: string, body: string, seconds?: number) =>
    standardHeaders(SECRET, id, body, seconds);

  test('signatures survive the proxy, and bytes that are no ASCII too', async () => {
    const body = '{"title": "Grüße 🎉",\n "a": "\\u0000"}';
    expect(await post(body, github('g1', body))).toBe('202');
    expect(await post(body, standard('s1', body))).toBe('202');
    expect(await post(body, { 'X-Gitlab-Token': SECRET, 'Idempotency-Key': 'l1' })).toBe('202');
    expect(recorded).toEqual([`g1 ${body}`, `s1 ${body}`, `l1 ${body}`]);
  });

  test("GitHub's documented example has the right signature, and a forged one has not", async () => {
    const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
    const named = { 'X-GitHub-Delivery': 'g2', 'X-Hub-Signature-256': signature };
    // Its body is no JSON.
    expect(await post('Hello, World!', named)).toBe('400');
    expect(await post('Hello, World?', named)).toBe('401');
  });

  test.each<[what: string, body: string, named: () => SignedHeaders, path?: string]>([
    ['forged', '{}', () => github('f1', '{}', 'guess')],
    ['changed on the way', '{"a":2}', () => standard('f2', '{"a":1}')],
    ['late', '{}', () => standard('f3', '{}', Math.floor(Date.now() / 1000) - 400)],
    ['unsigned', '{}', () => ({})],
    ['for a webhook that does not exist', '{}', () => standard('f5', '{}'), '/hooks/none'],
  ])('a delivery that is %s is refused', async (_what, body, named, path) => {
    const before = recorded.length;
    expect(await post(body, named(), path)).toBe('401');
    expect(recorded.length).toBe(before);
  });

  test('a delivery that is replayed is a duplicate', async () => {
    const named = standard('r1', '{}');
    expect(await post('{}', named)).toBe('202');
    expect(await post('{}', named)).toBe('200');
  });

  test('what is too large, malformed or elsewhere does not arrive', async () => {
    const large = 'x'.repeat(1_100_000);
    expect(await post(large, standard('l1', large))).toBe('413');
    expect(await post('{', standard('m1', '{'))).toBe('400');
    // Without a proxy, Raymond says nothing about the paths that it has.
    const elsewhere = start === startTunnel ? '401' : '404';
    expect(await post('{}', standard('m2', '{}'), '/api/runs')).toBe(elsewhere);
    expect(await post('{}', standard('m3', '{}'), '/hooks/../api/runs')).toBe(elsewhere);
  });

  test('a body of a megabyte that comes in pieces arrives as a whole', async () => {
    const body = `{"a":"${'x'.repeat(1_000_000)}"}`;
    const args = [...STATUS, ...headers(standard('c1', body)), '-H', 'Transfer-Encoding: chunked'];
    const url = `${addressOf(proxy)}/hooks/issues`;
    expect(await curl(proxy, [...args, '--data-binary', '@-', url], body)).toBe('202');
    expect(recorded.at(-1)?.length).toBe('c1 '.length + body.length);
  });

  test('senders that never finish do not keep others from being heard', async () => {
    const { port, scheme } = proxy;
    const head = `POST /hooks/issues HTTP/1.1\r\nHost: ${HOST}\r\nContent-Type: application/json\r\n`;
    const to = { port, host: '127.0.0.1', servername: HOST, rejectUnauthorized: false };
    const slow = Array.from({ length: 100 }, () => {
      const socket = scheme === 'https' ? connect(to) : connectPlainly(to);
      socket.on('error', () => {});
      socket.write(`${head}Content-Length: 1000\r\n\r\n{`);
      return socket;
    });
    await Promise.all(
      slow.map(
        (socket) =>
          new Promise((resolve) =>
            socket.once(scheme === 'https' ? 'secureConnect' : 'connect', resolve),
          ),
      ),
    );
    expect(await post('{}', standard('n1', '{}'))).toBe('202');
    for (const socket of slow) socket.destroy();
  });

  test('a thousand deliveries at once arrive once each', async () => {
    const before = new Set(recorded);
    const ids = Array.from({ length: 1_000 }, (_, n) => `burst-${n}`);
    // One process of curl sends them all, at once.
    const config = ids.flatMap((id, index) => {
      const lines = Object.entries({
        ...{ 'content-type': 'application/json' },
        ...standard(id, '{}'),
      }).map(([name, value]) => `header = "${name}: ${value}"`);
      const one = [`url = "${addressOf(proxy)}/hooks/issues"`, 'data-binary = "{}"', ...lines];
      return [
        ...(index > 0 ? ['next'] : []),
        ...one,
        'silent',
        ...reachedBy(proxy),
        'write-out = "%{http_code}\\n"',
        'output = "/dev/null"',
      ];
    });
    const said = await curl(
      proxy,
      ['--parallel', '--parallel-max', '300', '--config', '-'],
      config.join('\n'),
    );
    expect(said.trim().split('\n')).toEqual(ids.map(() => '202'));
    expect(recorded.filter((one) => !before.has(one)).sort()).toEqual(
      ids.map((id) => `${id} {}`).sort(),
    );
  });
});
