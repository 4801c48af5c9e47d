// A receiver on loopback gets the spans and metrics of runs of the built program.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
}

const received: { spans: Span[]; metrics: string[]; services: string[]; keys: unknown[] } = {
  ...{ spans: [], metrics: [], services: [], keys: [] },
};
let server: Server;
let [isSilent, silences] = [false, 0];

beforeAll(async () => {
  server = createServer((request, response) => {
    if (isSilent) {
      silences += 1;
      return;
    }
    let text = '';
    request.setEncoding('utf8').on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      const body = JSON.parse(text);
      received.keys.push(request.headers['x-key']);
      for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
        received.services.push(JSON.stringify(resource));
        received.spans.push(...scopeSpans[0].spans);
      }
      for (const { scopeMetrics } of body.resourceMetrics ?? [])
        received.metrics.push(...scopeMetrics[0].metrics.map(({ name }: Span) => name));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  for (const list of Object.values(received)) list.length = 0;
});

const environment = () => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${portOf(server.address())}`,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-key=abc',
  OTEL_SERVICE_NAME: 'nightly',
  OTEL_BSP_SCHEDULE_DELAY: '20',
});

const names = () => received.spans.map(({ name }) => name);

test('spans of killed and resumed processes are in one trace, with metrics', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<goto>SLEEP</goto>'`,
    'flow/SLEEP.sh': `until [ -e morning ]; do sleep 0.05; done; echo '<result>secret</result>'`,
  });
  const first = project.start(['flow', '--workflow-id', 'r'], { env: environment() });
  await eventually('the finished step is delivered', () => names().includes('script START.sh'));
  first.child.kill('SIGKILL');
  await first.ended;
  project.write('morning', '');
  const second = await project.run(['resume', 'r'], { env: environment() });
  expect(second, second.stderr).toMatchObject({ code: 0 });
  expect(names()).toEqual([...['script START.sh', 'script SLEEP.sh', 'agent main', 'run flow']]);
  expect(new Set(received.spans.map(({ traceId }) => traceId)).size).toBe(1);
  const [, sleep, main, run] = received.spans;
  expect([sleep?.parentSpanId, main?.parentSpanId]).toEqual([main?.spanId, run?.spanId]);
  expect(received.metrics).toContain('raymond.step.duration');
  expect(received.metrics).toContain('raymond.runs');
  expect(received.services.join()).toContain('"nightly"');
  expect(new Set(received.keys)).toEqual(new Set(['abc']));
  expect(JSON.stringify(received)).not.toContain('secret');
});

test('a receiver that never answers does not hold up a run', async () => {
  const project = newProject({ 'flow/START.sh': `echo '<result>done</result>'` });
  isSilent = true;
  // Without the limit at the end of a run, the process would wait for ten hours.
  const env = { ...environment(), OTEL_EXPORTER_OTLP_TIMEOUT: '36000000' };
  const ended = await project.run(['flow'], { env });
  isSilent = false;
  expect(silences).toBeGreaterThan(0);
  expect(ended).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(ended.stderr).toContain('The receiver of OpenTelemetry did not accept');
});

test.each([
  ['no receiver', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }, 'did not accept'],
  ['a disabled SDK', { OTEL_SDK_DISABLED: 'true' }, ''],
])('%s does not fail a run', async (_, variables, said) => {
  const project = newProject({ 'flow/START.sh': `echo '<result>done</result>'` });
  const ended = await project.run(['flow'], { env: { ...environment(), ...variables } });
  expect(ended).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(ended.stderr).toContain(said);
  expect(received.spans).toEqual([]);
});

test('a rehearsal, and a config file of a project, send nothing', async () => {
  const project = newProject({
    'flow/START.sh': `echo '<result>done</result>'`,
    '.env': `OTEL_EXPORTER_OTLP_ENDPOINT=${environment().OTEL_EXPORTER_OTLP_ENDPOINT}\n`,
  });
  expect(await project.run(['flow', '--rehearse'], { env: environment() })).toMatchObject({
    code: 0,
  });
  expect(await project.run(['flow'])).toMatchObject({ code: 0 });
  expect(received.spans).toEqual([]);
});

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('The server has no port');
  return address.port;
}
