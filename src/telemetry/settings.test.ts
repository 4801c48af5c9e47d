import { expect, test } from 'vitest';
import { telemetrySettings } from './settings.ts';

const AT = 'http://box:4318';

test.each<[string, Record<string, string>, string | undefined, string | undefined]>([
  ['nothing', {}, undefined, undefined],
  ['an endpoint', { EXPORTER_OTLP_ENDPOINT: `${AT}/` }, `${AT}/v1/traces`, `${AT}/v1/metrics`],
  ['an empty endpoint', { EXPORTER_OTLP_ENDPOINT: ' ' }, undefined, undefined],
  ['an endpoint for traces', { EXPORTER_OTLP_TRACES_ENDPOINT: `${AT}/t` }, `${AT}/t`, undefined],
  ['an exporter', { TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces', undefined],
  [
    'an endpoint, and no metrics',
    { EXPORTER_OTLP_ENDPOINT: AT, METRICS_EXPORTER: 'none' },
    `${AT}/v1/traces`,
    undefined,
  ],
  ['a disabled SDK', { EXPORTER_OTLP_ENDPOINT: AT, SDK_DISABLED: 'TRUE' }, undefined, undefined],
  ['a service name alone', { SERVICE_NAME: 'x' }, undefined, undefined],
])('%s', (_, variables, traces, metrics) => {
  const { settings, problems } = telemetrySettings(named(variables));
  expect([settings?.traces?.url, settings?.metrics?.url]).toEqual([traces, metrics]);
  expect(problems).toEqual([]);
});

test.each<[Record<string, string>, string]>([
  [{ TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER is zipkin, but Raymond supports only otlp'],
  [{ EXPORTER_OTLP_ENDPOINT: AT, EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'is grpc, but Raymond supports'],
  [{ EXPORTER_OTLP_ENDPOINT: 'file:///etc/passwd' }, 'The OTLP endpoint is not an HTTP address'],
  [{ EXPORTER_OTLP_ENDPOINT: 'box' }, 'The OTLP endpoint is not an HTTP address'],
])('%j is a problem, and nothing is sent', (variables, problem) => {
  const { settings, problems } = telemetrySettings(named(variables));
  expect(settings).toBeUndefined();
  expect(problems[0]).toContain(problem);
});

test('headers, timeouts, the resource and the pauses', () => {
  const { settings } = telemetrySettings(
    named({
      EXPORTER_OTLP_ENDPOINT: AT,
      EXPORTER_OTLP_HEADERS: 'api-key=a%20b, x=1=2,broken,%E0=%E0',
      EXPORTER_OTLP_METRICS_HEADERS: 'x=3',
      EXPORTER_OTLP_TIMEOUT: '500',
      EXPORTER_OTLP_METRICS_TIMEOUT: '700',
      RESOURCE_ATTRIBUTES: 'service.name=no,team=a',
      SERVICE_NAME: 'mine',
      BSP_SCHEDULE_DELAY: '50',
      METRIC_EXPORT_INTERVAL: 'often',
    }),
  );
  expect(settings?.traces).toMatchObject({
    headers: { 'api-key': 'a b', x: '1=2', '%E0': '%E0' },
    timeoutMs: 500,
  });
  expect(settings?.metrics).toMatchObject({ headers: { x: '3' }, timeoutMs: 700 });
  expect(settings?.resource).toEqual({ 'service.name': 'mine', team: 'a' });
  expect(settings).toMatchObject({ spanDelayMs: 50, metricIntervalMs: 60_000 });
});

const named = (variables: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(variables).map(([name, value]) => [`OTEL_${name}`, value]));
