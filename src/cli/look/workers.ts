import { type KnownWorker, leastLeaseMs, type Traffic } from '../../fleet/worker-table.ts';
import { duration, time } from '../../observe/words.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { type Column, table } from './table.ts';

/** Prints the workers of a database, and warns of leases that are too short for their distance. */
export function showWorkers(
  workers: readonly KnownWorker[] | undefined,
  { json }: { readonly json?: boolean },
): number {
  if (!workers)
    throw wrongUsage(
      'Only runs in a database have workers.',
      'Name one with --database, or set RAYMOND_DATABASE.',
    );
  if (json) for (const worker of workers) stdout.json(workerForm(worker));
  else if (workers.length > 0)
    for (const line of table(COLUMNS, workers.map(row))) stdout.say(line);
  else stderr.say('No worker executes steps. To start one: raymond worker');
  for (const { name, leaseMs, latencyMs } of workers) {
    const warning = leaseWarning(leaseMs, latencyMs);
    if (warning && !json) stderr.say(`${name}: ${warning}`);
  }
  return 0;
}

const COLUMNS: readonly Column[] = [
  { head: 'WORKER' },
  { head: 'HOST' },
  { head: 'PID', isNumber: true },
  { head: 'RUNNING', isNumber: true },
  { head: 'STEPS', isNumber: true },
  { head: 'LATENCY', isNumber: true },
  { head: 'TRIPS/STEP', isNumber: true },
  { head: 'LEASE', isNumber: true },
  { head: 'HEARTBEAT', isNumber: true },
  { head: 'STARTED' },
];

function row(worker: KnownWorker): readonly string[] {
  const { name, host, pid, running, steps, latencyMs, leaseMs, ageMs, startedAt } = worker;
  return [
    ...[name, host, String(pid), String(running), String(steps)],
    latencyMs === null ? '' : latency(latencyMs),
    String(tripsPerStep(worker) ?? ''),
    `${leaseMs / 1000} s`,
    `${duration(ageMs)} ago`,
    time(startedAt, Date.now()),
  ];
}

/** `3 ms`, `2.0 s` */
export const latency = (ms: number): string => (ms < 1000 ? `${Math.round(ms)} ms` : duration(ms));

function workerForm(worker: KnownWorker) {
  const { name, host, pid, running, leaseMs, ageMs, startedAt } = worker;
  return {
    ...{ name, host, pid, running },
    started_at: new Date(startedAt).toISOString(),
    heartbeat_age_ms: Math.round(ageMs),
    ...wayForm(worker, leaseMs),
  };
}

/** The way of a worker to its database, as programs read it. */
export function wayForm(
  way: Traffic & { readonly latencyMs: number | null },
  leaseMs: number,
): object {
  const { steps, roundTrips, latencyMs } = way;
  return {
    ...{ steps, round_trips: roundTrips, round_trips_per_step: tripsPerStep(way) ?? null },
    latency_ms: latencyMs === null ? null : Math.round(latencyMs),
    lease_ms: leaseMs,
    lease_is_short: leaseWarning(leaseMs, latencyMs) !== undefined,
  };
}

export function tripsPerStep({ steps, roundTrips }: Traffic): number | undefined {
  return steps === 0 ? undefined : Math.round((10 * roundTrips) / steps) / 10;
}

/** Undefined if the lease is long enough for the distance of the database. */
export function leaseWarning(leaseMs: number, latencyMs: number | null): string | undefined {
  const leastMs = leastLeaseMs(latencyMs ?? 0);
  if (latencyMs === null || leaseMs >= leastMs) return undefined;
  return `A round trip to the database takes ${latency(latencyMs)}, so a lease of ${leaseMs / 1000} s is short: a worker that has to replace its connection may lose its steps. Use --lease ${Math.ceil(leastMs / 1000)} or more.`;
}
