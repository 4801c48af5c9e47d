// A receiver on loopback gets the spans and metrics of runs of the built program.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { newProject } from '../new-project.ts';
import { allowBash, answering, bash, raymondSandbox } from '../real-agent/raymond-sandbox.ts';
import { faults } from '../real-agent/scripted-model.ts';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
}

interface Metric {
  readonly name: string;
  readonly sum?: { readonly dataPoints: readonly Point[] };
}

interface Point {
  readonly asDouble: number;
  readonly attributes: readonly { readonly key: string; readonly value: unknown }[];
}

const received: { spans: Span[]; metrics: Metric[]; services: string[]; keys: unknown[] } = {
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
        received.metrics.push(...scopeMetrics[0].metrics);
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

const figures = () => received.metrics.map(({ name }) => name);
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
  expect(names()).toEqual([
    ...['script START.sh', 'script SLEEP.sh', 'agent main', 'invoke_workflow flow'],
  ]);
  expect(new Set(received.spans.map(({ traceId }) => traceId)).size).toBe(1);
  const [, sleep, main, run] = received.spans;
  expect([sleep?.parentSpanId, main?.parentSpanId]).toEqual([main?.spanId, run?.spanId]);
  expect(figures()).toContain('raymond.step.duration');
  expect(figures()).toContain('raymond.runs');
  expect(received.services.join()).toContain('"nightly"');
  expect(new Set(received.keys)).toEqual(new Set(['abc']));
  expect(JSON.stringify(received)).not.toContain('secret');
});

test('the tools, tokens and costs of the real agent arrive, and the failure of an agent', async () => {
  const world = await raymondSandbox({
    age: 'newer',
    workflow: {
      'START.md': 'Work.',
      'FAIL.md': '---\nallowed_transitions:\n  - { tag: goto, target: START.md }\n---\nFail.',
    },
    script: answering({
      'Work.': bash('echo done'),
      '[result': { content: '<goto>FAIL</goto>', usage: { input_tokens: 5, output_tokens: 7 } },
      'Fail.': faults.badRequest,
    }),
    environment: environment(),
  });
  onTestFinished(() => world.remove());
  await allowBash(world.claude);
  expect(await world.run('workflow', '--no-warm')).toMatchObject({ code: 1 });
  const parents = new Map(received.spans.map(({ spanId, name }) => [spanId, name]));
  const lines = received.spans.map(
    (span) => `${span.name} < ${parents.get(span.parentSpanId ?? '')}`,
  );
  expect(lines).toEqual([
    'execute_tool Bash < invoke_agent START.md',
    'invoke_agent START.md < agent main',
    'invoke_agent FAIL.md < agent main',
    'agent main < invoke_workflow workflow',
    'invoke_workflow workflow < undefined',
  ]);
  expect(new Set(figures())).toEqual(
    new Set([
      ...['raymond.steps', 'raymond.cost', 'raymond.tokens', 'raymond.step.failures'],
      ...['raymond.agent.failures', 'raymond.runs', 'raymond.step.duration'],
      'gen_ai.workflow.duration',
    ]),
  );
  const points = (metric: string) =>
    received.metrics.findLast(({ name }) => name === metric)?.sum?.dataPoints ?? [];
  expect(points('raymond.cost')[0]?.asDouble).toBeGreaterThan(0);
  expect(points('raymond.cost')[0]?.attributes).toContainEqual({
    key: 'raymond.cost.from',
    value: { stringValue: 'told' },
  });
  const output = points('raymond.tokens').find(({ attributes }) =>
    JSON.stringify(attributes).includes('"output"'),
  );
  expect(output?.asDouble).toBeGreaterThanOrEqual(7);
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
