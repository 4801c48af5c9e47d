/**
 * The settings of telemetry, from the usual variables of OpenTelemetry. Only the environment of the user
 * can switch it on: no file of a project can.
 */
import { attempt } from '../model/attempt.ts';

export interface TelemetrySettings {
  readonly traces: Receiver | undefined;
  readonly metrics: Receiver | undefined;
  /** Describes Raymond to the receiver. */
  readonly resource: Readonly<Record<string, string>>;
  readonly spanDelayMs: number;
  readonly metricIntervalMs: number;
}

export interface Receiver {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined if Raymond sends nothing. `problems` are for the user. */
export function telemetrySettings(environment: Environment): {
  readonly settings: TelemetrySettings | undefined;
  readonly problems: readonly string[];
} {
  const of = (name: string) => environment[`OTEL_${name}`]?.trim() || undefined;
  if (of('SDK_DISABLED')?.toLowerCase() === 'true') return { settings: undefined, problems: [] };
  const problems: string[] = [];
  const [traces, metrics] = SIGNALS.map((signal) => receiverOf(signal, of, problems));
  if (!traces && !metrics) return { settings: undefined, problems };
  const settings = {
    ...{ traces, metrics },
    resource: {
      'service.name': 'raymond',
      ...pairsIn(of('RESOURCE_ATTRIBUTES')),
      ...namedService(of('SERVICE_NAME')),
    },
    spanDelayMs: numberIn(of('BSP_SCHEDULE_DELAY')) ?? 5_000,
    metricIntervalMs: numberIn(of('METRIC_EXPORT_INTERVAL')) ?? 60_000,
  };
  return { settings, problems };
}

const SIGNALS = ['TRACES', 'METRICS'] as const;
type Signal = (typeof SIGNALS)[number];
type Of = (name: string) => string | undefined;

function receiverOf(signal: Signal, of: Of, problems: string[]): Receiver | undefined {
  const exporter = of(`${signal}_EXPORTER`);
  const own = of(`EXPORTER_OTLP_${signal}_ENDPOINT`);
  const common = of('EXPORTER_OTLP_ENDPOINT');
  if (exporter === 'none') return undefined;
  if (exporter !== undefined && exporter !== 'otlp') {
    problems.push(
      `OTEL_${signal}_EXPORTER is ${exporter}, but Raymond supports only otlp and none. It sends no ${signal.toLowerCase()}.`,
    );
    return undefined;
  }
  if (exporter === undefined && own === undefined && common === undefined) return undefined;
  const protocol = of(`EXPORTER_OTLP_${signal}_PROTOCOL`) ?? of('EXPORTER_OTLP_PROTOCOL');
  if (protocol === 'grpc') {
    problems.push(
      `OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but Raymond supports only http/json. It sends no ${signal.toLowerCase()}.`,
    );
    return undefined;
  }
  const base = (common ?? 'http://localhost:4318').replace(/\/+$/, '');
  const url = own ?? `${base}/v1/${signal.toLowerCase()}`;
  if (!isWebAddress(url)) {
    problems.push(
      `The OTLP endpoint is not an HTTP address. Raymond sends no ${signal.toLowerCase()}.`,
    );
    return undefined;
  }
  return {
    url,
    headers: {
      ...pairsIn(of('EXPORTER_OTLP_HEADERS')),
      ...pairsIn(of(`EXPORTER_OTLP_${signal}_HEADERS`)),
    },
    timeoutMs:
      numberIn(of(`EXPORTER_OTLP_${signal}_TIMEOUT`)) ??
      numberIn(of('EXPORTER_OTLP_TIMEOUT')) ??
      10_000,
  };
}

const isWebAddress = (text: string) => /^https?:\/\/[^\s/]+/i.test(text) && URL.canParse(text);

/** `a=1,b=2`, with encoded values. Faulty pairs are left out. */
function pairsIn(text: string | undefined): Readonly<Record<string, string>> {
  const pairs = (text ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim();
    return name === '' ? [] : [[name, decoded(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

const decoded = (text: string) => attempt(() => decodeURIComponent(text)) ?? text;

const namedService = (name: string | undefined) =>
  name === undefined ? {} : { 'service.name': name };

function numberIn(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : undefined;
}
