import * as published from '@opentelemetry/semantic-conventions/incubating';
import { expect, test } from 'vitest';
import { failed, makeRun, type Stage } from '../../test/make-run.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { Figures } from './figures.ts';
import { type Attributes, type FinishedSpan, metricsRequest, tracesRequest } from './otlp.ts';
import { SpanReader } from './span-reader.ts';

const FLOW = { START: [], WORK: [], NEXT: [] };
const SECRET = 'a secret text';

function ids() {
  let count = 0;
  return {
    trace: ({ id }: Run) => `trace of ${id}`,
    newSpan: () => {
      count += 1;
      return `span ${count}`;
    },
  };
}

/** Reads events from one position on, as a process does that resumes the run there. */
function read(events: readonly RunEvent[], from = 0) {
  const reader = new SpanReader(ids(), (executor) => `provider of ${executor}`);
  const figures = new Figures();
  const spans: FinishedSpan[] = [];
  let run: Run | undefined;
  events.forEach((event, index) => {
    const before = run;
    run = apply(before ?? newRun, event);
    if (index < from) return;
    spans.push(...reader.event(event, before, run));
    figures.event(event, before, run);
    if (event.type === 'step-started')
      spans.push(
        ...reader.live(event, { kind: 'tool', name: 'Bash', summary: SECRET }, event.at + 1),
      );
  });
  spans.push(...reader.close());
  return { spans, metrics: figures.metrics() };
}

/** `tool < step < agent < run`, by the names of the spans. */
function lineOf(spans: readonly FinishedSpan[], span: FinishedSpan): string {
  const parent = spans.find(({ spanId }) => spanId === span.parentId);
  return parent ? `${span.name} < ${lineOf(spans, parent)}` : span.name;
}

function crew(): Stage {
  const stage = makeRun(FLOW);
  stage.turn('<fork>WORK</fork><goto>NEXT</goto>', 'main', 0.5);
  stage.turn(failed('refused', 0.25, { message: SECRET }), 'main_work1');
  stage.turn(`<result>${SECRET}</result>`);
  stage.idle();
  return stage;
}

test('spans of run, agent, step and tool contain each other', () => {
  const { spans } = read(crew().events);
  expect(spans.map((span) => lineOf(spans, span)).sort()).toEqual([
    'agent main < invoke_workflow flow',
    'agent main_work1 < invoke_workflow flow',
    'execute_tool Bash < invoke_agent NEXT.md < agent main < invoke_workflow flow',
    'execute_tool Bash < invoke_agent START.md < agent main < invoke_workflow flow',
    'execute_tool Bash < invoke_agent WORK.md < agent main_work1 < invoke_workflow flow',
    'invoke_agent NEXT.md < agent main < invoke_workflow flow',
    'invoke_agent START.md < agent main < invoke_workflow flow',
    'invoke_agent WORK.md < agent main_work1 < invoke_workflow flow',
    'invoke_workflow flow',
  ]);
  const byName = new Map(spans.map((span) => [span.name, span]));
  expect(byName.get('invoke_agent START.md')).toMatchObject({
    isError: false,
    attributes: { 'raymond.cost.usd': 0.5, 'gen_ai.operation.name': 'invoke_agent' },
  });
  expect(byName.get('invoke_agent WORK.md')).toMatchObject({
    isError: true,
    attributes: { 'error.type': 'refused' },
  });
  expect(byName.get('agent main_work1')).toMatchObject({ isError: true });
  expect(byName.get('invoke_workflow flow')).toMatchObject({
    isError: true,
    attributes: { 'raymond.outcome': 'failed', 'raymond.resumed': false },
  });
  for (const { from, to } of spans) expect(to).toBeGreaterThanOrEqual(from);
});

test('a prompt has the words that OpenTelemetry has published, and counts cached tokens as input', () => {
  const stage = makeRun(FLOW);
  stage.start();
  const usage = { inputTokens: 1, cacheReadTokens: 20, cacheWriteTokens: 300, outputTokens: 4 };
  const [ended] = stage.end('<result>x</result>');
  const account = { usage, model: 'model-1' };
  stage.idle();
  const { spans, metrics } = read(
    stage.events.map((event) => (event === ended ? { ...event, ...account } : event)),
  );
  const prompt = spans.find(({ name }) => name === 'invoke_agent START.md');
  expect(prompt?.attributes).toMatchObject({
    'gen_ai.operation.name': published.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT,
    'gen_ai.provider.name': 'provider of scripted',
    'gen_ai.request.model': 'model-1',
    'gen_ai.agent.name': 'START.md',
    'gen_ai.agent.id': 'main',
    'gen_ai.usage.input_tokens': 321,
    'gen_ai.usage.cache_read.input_tokens': 20,
    'gen_ai.usage.cache_creation.input_tokens': 300,
    'gen_ai.usage.output_tokens': 4,
  });
  expect(spans.at(-1)).toMatchObject({
    name: 'invoke_workflow flow',
    attributes: {
      'gen_ai.operation.name': published.GEN_AI_OPERATION_NAME_VALUE_INVOKE_WORKFLOW,
      'gen_ai.workflow.name': 'flow',
    },
  });
  const duration = metrics.find(({ name }) => name === 'gen_ai.workflow.duration');
  expect(duration).toMatchObject({ unit: 's', kind: 'histogram', points: [{ count: 1 }] });
  const names = new Set<unknown>(Object.values(published));
  const points = metrics.flatMap((metric): readonly { attributes: Attributes }[] => [
    ...metric.points,
  ]);
  const used = [...spans, ...points].flatMap(({ attributes }) =>
    Object.keys(attributes).filter((name) => name.startsWith('gen_ai.')),
  );
  expect(used.filter((name) => !names.has(name))).toEqual([]);
});

test('no text of an agent, a tool or a failure is sent', () => {
  const { spans, metrics } = read(crew().events);
  const sent = JSON.stringify([tracesRequest({}, spans), metricsRequest({}, metrics, 1, 2)]);
  expect(sent).toContain('invoke_agent WORK.md');
  expect(sent).not.toContain(SECRET);
});

test('metrics have cost, steps, durations and failures', () => {
  const { metrics } = read(crew().events);
  const sums = metrics.flatMap((metric) =>
    metric.kind === 'sum'
      ? [[metric.name, metric.points.reduce((sum, { value }) => sum + value, 0)] as const]
      : [],
  );
  expect(Object.fromEntries(sums)).toEqual({
    'raymond.steps': 3,
    'raymond.cost': 0.75,
    'raymond.step.failures': 1,
    'raymond.agent.failures': 1,
    'raymond.runs': 1,
  });
  const duration = metrics.find(({ name }) => name === 'raymond.step.duration');
  expect(duration?.points).toHaveLength(3);
  for (const point of duration?.kind === 'histogram' ? duration.points : [])
    expect(point.counts.reduce((a, b) => a + b)).toBe(point.count);
});

test('a process that adopts a step has a span of it from its start, in the same trace', () => {
  const stage = makeRun(FLOW);
  stage.start();
  const killedAt = stage.events.length;
  stage.now += 60_000;
  stage.resume();
  stage.end('<result>x</result>');
  stage.idle();
  const [first, second] = [read(stage.events.slice(0, killedAt)), read(stage.events, killedAt)];
  const step = second.spans.find(({ name }) => name === 'invoke_agent START.md');
  expect(step?.from).toBe(stage.events[killedAt - 1]?.at);
  const run = second.spans.at(-1);
  expect(run).toMatchObject({ attributes: { 'raymond.resumed': true } });
  expect(run?.traceId).toBe(first.spans.at(-1)?.traceId);
});

test('numbers and times keep their form', () => {
  const span = {
    ...{ traceId: 't', spanId: 's', parentId: undefined, name: 'n', isError: true },
    ...{ from: 1_700_000_000_123, to: 5 },
    attributes: { a: 1, b: 1.5, c: true, d: 'x', e: undefined },
  };
  const [sent] = tracesRequest({}, [span]).resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
  expect(sent).toEqual({
    traceId: 't',
    spanId: 's',
    name: 'n',
    kind: 1,
    startTimeUnixNano: '1700000000123000000',
    endTimeUnixNano: '1700000000123000000',
    attributes: [
      { key: 'a', value: { intValue: '1' } },
      { key: 'b', value: { doubleValue: 1.5 } },
      { key: 'c', value: { boolValue: true } },
      { key: 'd', value: { stringValue: 'x' } },
    ],
    status: { code: 2 },
  });
});
