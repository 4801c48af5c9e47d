/** Spans and metrics in the JSON form of OTLP 1, the protocol of OpenTelemetry. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Times are in ms since the epoch. */
export interface FinishedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly attributes: Attributes;
  readonly isError: boolean;
}

export type Metric = {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
} & (
  | { readonly kind: 'sum'; readonly points: readonly SumPoint[] }
  | { readonly kind: 'histogram'; readonly points: readonly HistogramPoint[] }
);

interface Point {
  readonly attributes: Attributes;
}
export interface SumPoint extends Point {
  readonly value: number;
}
export interface HistogramPoint extends Point {
  readonly count: number;
  readonly sum: number;
  readonly bounds: readonly number[];
  /** One more entry than `bounds`. */
  readonly counts: readonly number[];
}

export function tracesRequest(resource: Attributes, spans: readonly FinishedSpan[]) {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: SCOPE, spans: spans.map(spanOf) }],
      },
    ],
  };
}

/** Sums and counts since `from`. */
export function metricsRequest(
  resource: Attributes,
  metrics: readonly Metric[],
  from: number,
  to: number,
) {
  const times = { startTimeUnixNano: nanos(from), timeUnixNano: nanos(to) };
  return {
    resourceMetrics: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeMetrics: [{ scope: SCOPE, metrics: metrics.map((metric) => metricOf(metric, times)) }],
      },
    ],
  };
}

const SCOPE = { name: 'raymond' };
const [INTERNAL, ERROR, CUMULATIVE] = [1, 2, 2];

function spanOf({ traceId, spanId, parentId, name, from, to, attributes, isError }: FinishedSpan) {
  return {
    traceId,
    spanId,
    ...(parentId !== undefined && { parentSpanId: parentId }),
    name,
    kind: INTERNAL,
    startTimeUnixNano: nanos(from),
    endTimeUnixNano: nanos(Math.max(from, to)),
    attributes: attributesOf(attributes),
    status: isError ? { code: ERROR } : {},
  };
}

function metricOf(metric: Metric, times: Readonly<Record<string, string>>) {
  const { name, unit, description } = metric;
  const about = { name, unit, description };
  if (metric.kind === 'sum') {
    const dataPoints = metric.points.map(({ attributes, value }) => ({
      ...times,
      attributes: attributesOf(attributes),
      asDouble: value,
    }));
    return {
      ...about,
      sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true },
    };
  }
  const dataPoints = metric.points.map(({ attributes, count, sum, bounds, counts }) => ({
    ...times,
    attributes: attributesOf(attributes),
    count: String(count),
    sum,
    explicitBounds: bounds,
    bucketCounts: counts.map(String),
  }));
  return { ...about, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } };
}

/** As text, because a JavaScript number cannot hold nanoseconds since the epoch. */
const nanos = (ms: number) => `${Math.round(ms)}000000`;

function attributesOf(attributes: Attributes) {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: valueIn(value) }],
  );
}

function valueIn(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
