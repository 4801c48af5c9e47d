import { createHash, randomBytes } from 'node:crypto';
import type { Run } from '../model/run.ts';
import type { Clock, Observer } from '../ports.ts';
import { Figures } from './figures.ts';
import { type FinishedSpan, metricsRequest, tracesRequest } from './otlp.ts';
import { Sender } from './sender.ts';
import type { TelemetrySettings } from './settings.ts';
import { type Providers, SpanReader } from './span-reader.ts';

interface TelemetryParts {
  readonly clock: Pick<Clock, 'now'>;
  /** Describes this process, in addition to what the user sets. */
  readonly instance: Readonly<Record<string, string>>;
  readonly providerOf: Providers;
  readonly report: (text: string) => void;
}

/** Sends spans and metrics of a run. If the receiver is gone, they are lost and the run is not delayed. */
export function telemetryObserver(
  { traces, metrics, resource, spanDelayMs, metricIntervalMs }: TelemetrySettings,
  { clock, instance, providerOf, report }: TelemetryParts,
): Observer {
  const about = { ...instance, ...resource };
  const reader = new SpanReader(IDS, providerOf);
  const figures = new Figures();
  const spanSender = traces && new Sender(traces);
  const metricSender = metrics && new Sender(metrics);
  const begun = clock.now();
  let queue: FinishedSpan[] = [];
  let [sending, lost] = [0, 0];

  const flush = () => {
    const spans = queue;
    queue = [];
    if (!spanSender || spans.length === 0) return;
    sending += 1;
    void spanSender.send(tracesRequest(about, spans)).then((isSent) => {
      sending -= 1;
      if (!isSent) lost += spans.length;
    });
  };
  const add = (spans: readonly FinishedSpan[]) => {
    if (!spanSender) return;
    // A receiver that does not keep up must not fill the memory.
    if (sending >= MOST_BATCHES && queue.length >= BATCH) {
      lost += spans.length;
      return;
    }
    queue.push(...spans);
    if (queue.length >= BATCH && sending < MOST_BATCHES) flush();
  };
  const sendFigures = () =>
    void metricSender?.send(metricsRequest(about, figures.metrics(), begun, clock.now()));
  const timers = [setInterval(flush, spanDelayMs), setInterval(sendFigures, metricIntervalMs)];
  for (const timer of timers) timer.unref();

  return {
    event(event, before, after) {
      add(reader.event(event, before, after));
      figures.event(event, before, after);
    },
    live: (step, live) => add(reader.live(step, live, clock.now())),
    async close() {
      for (const timer of timers) clearInterval(timer);
      add(reader.close());
      flush();
      sendFigures();
      await Promise.all([spanSender?.close(), metricSender?.close()]);
      const failures = (spanSender?.failures ?? 0) + (metricSender?.failures ?? 0);
      if (failures > 0)
        report(
          `The receiver of OpenTelemetry did not accept ${failures === 1 ? 'a request' : `${failures} requests`}${lost > 0 ? ` with ${lost} spans` : ''}. Check OTEL_EXPORTER_OTLP_ENDPOINT.`,
        );
    },
  };
}

const [BATCH, MOST_BATCHES] = [512, 4];

/** All processes that work on a run derive the same trace from it. */
const IDS = {
  trace: ({ id, startedAt }: Run) =>
    createHash('sha256').update(`${id}\n${startedAt}`).digest('hex').slice(0, 32),
  newSpan: () => randomBytes(8).toString('hex'),
};
