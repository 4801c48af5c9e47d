import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { takeDue } from '../../src/fleet/wakeups.ts';
import type { Run } from '../../src/model/run.ts';
import type { Database } from '../../src/postgres/database.ts';
import { findRow, runOf } from '../../src/postgres/run-row.ts';
import { runCodec } from '../../src/world/run-codec.ts';
import { dismiss, hire } from '../frame/workers.ts';
import type { SimulatedFleet, SimulatedWorker } from './fleet.ts';
import { type Print, percentile, table } from './report.ts';

interface Load {
  readonly seconds: number;
  readonly workers: number;
}

/** Many runs with one agent each, spread over the workers. Returns what limits them. */
export async function growRuns(
  fleet: SimulatedFleet,
  { seconds, workers, runs }: Load & { readonly runs: readonly number[] },
  print: Print,
): Promise<string> {
  const staff = await Promise.all(Array.from({ length: workers }, () => fleet.newWorker()));
  const measured: Measured[] = [];
  for (const count of runs) {
    const loops = await Promise.all(
      Array.from({ length: count }, async (_, index) => loopOf(fleet, at(staff, index), 1)),
    );
    measured.push(await measure(fleet, seconds, count, loops));
  }
  print(...table(`Runs with one agent, on ${workers} workers`, HEAD, measured.map(rowOf)));
  return verdict(measured);
}

/** One run whose agents are spread over several workers: its row is locked by one at a time. */
export async function growWorkersOfRun(
  fleet: SimulatedFleet,
  { seconds, workers, agents }: Load & { readonly agents: number },
  print: Print,
): Promise<void> {
  const measured: Measured[] = [];
  for (let count = 1; count <= workers; count *= 2) {
    const run = await fleet.newRun(agents);
    const ids = [...run.agents].map(([id]) => id);
    const loops: Loop[] = [];
    for (let index = 0; index < count; index++) {
      const mine = ids.filter((_, number) => number % count === index);
      const worker = await fleet.newWorker();
      loops.push({ worker, run: await worker.take(run, mine), agents: mine });
    }
    measured.push(await measure(fleet, seconds, count, loops));
  }
  const head = ['workers', ...HEAD.slice(1)];
  print(...table(`One run with ${agents} agents`, head, measured.map(rowOf)));
}

/** Workers without work: they look into their queues, and renew their leases. */
export async function growIdleWorkers(
  { url, serverPid }: SimulatedFleet,
  seconds: number,
  print: Print,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-idle-'));
  const rows: (readonly number[])[] = [];
  for (const count of [1, 4]) {
    const workers = await hire(url, count, folder);
    // Their first look at everything is not what they do later.
    await delay(seconds * 1000);
    const before = serverCpuMs(serverPid);
    await delay(seconds * 1000);
    rows.push([count, (serverCpuMs(serverPid) - before) / 1000 / seconds]);
    await Promise.all(workers.map(dismiss));
  }
  rmSync(folder, { recursive: true });
  print(...table('Workers without work', ['workers', 'cores: database'], rows));
}

/** A long run: a decision must not become slower, and a worker that does not know the run reads it. */
export async function growHistory(fleet: SimulatedFleet, print: Print): Promise<void> {
  const worker = await fleet.newWorker();
  const loop = await loopOf(fleet, worker, 200);
  const rows: (readonly number[])[] = [];
  let { run } = loop;
  for (const events of [1_000, 10_000, 50_000]) {
    while (run.seq < events) run = await worker.turn(run, loop.agents);
    const decide = await timed(async () => {
      run = await worker.turn(run, loop.agents.slice(0, 1));
    });
    const open = await timed(async () => {
      const row = await findRow(fleet.database, run.id);
      if (row) await runOf(fleet.database, { codec: runCodec }, run.id, row);
    });
    rows.push([run.seq, decide, open]);
  }
  print(...table('A long run', ['events', 'a decision, ms', 'read by a new worker, ms'], rows));
}

/** Many finished runs: what they take, and what they cost the others. */
export async function growStore(fleet: SimulatedFleet, runs: number, print: Print): Promise<void> {
  const { database } = fleet;
  const [before] = await sizes(database);
  const [sample] = await database.query<{ id: string }>(
    'select id from raymond.runs order by seq desc limit 1',
  );
  await database.query(
    `insert into raymond.runs (id, seq, version, status, summary)
     select 'stored-' || n, 40, version, 'ended', summary
       from raymond.runs, generate_series(1, $2::int) n where id = $1`,
    [sample?.id, runs],
  );
  await database.query(
    `insert into raymond.events (run, seq, event)
     select 'stored-' || n, seq, event from raymond.events, generate_series(1, $2::int) n
      where run = $1 and seq <= 40`,
    [sample?.id, runs],
  );
  await database.query('analyze raymond.runs');
  const [after] = await sizes(database);
  const list = await timed(() =>
    database.query('select id, summary from raymond.runs order by id'),
  );
  const due = await timed(() => takeDue(database, randomUUID(), 10));
  const bytes = ((after?.bytes ?? 0) - (before?.bytes ?? 0)) / runs;
  const head = ['finished runs', 'KB for each', 'all summaries, ms', 'runs that are due, ms'];
  print(...table('Stored runs of 40 events', head, [[runs, bytes / 1024, list, due]]));
}

function sizes(database: Database): Promise<readonly { bytes: number }[]> {
  return database.query<{ bytes: number }>(
    `select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
      where relnamespace = 'raymond'::regnamespace and relkind = 'r'`,
  );
}

interface Loop {
  readonly worker: SimulatedWorker;
  run: Run;
  readonly agents: readonly string[];
}

async function loopOf(
  fleet: SimulatedFleet,
  worker: SimulatedWorker,
  agents: number,
): Promise<Loop> {
  const run = await fleet.newRun(agents);
  const ids = [...run.agents].map(([id]) => id);
  return { worker, run: await worker.take(run, ids), agents: ids };
}

interface Measured {
  readonly count: number;
  readonly steps: number;
  readonly middleMs: number;
  readonly slowMs: number;
  /** Cores. */
  readonly database: number;
  readonly workers: number;
  readonly walKb: number;
  /** The waits of connections, by how often they were seen. */
  readonly waits: ReadonlyMap<string, number>;
}

/** All loops at the same time, for some seconds. */
async function measure(
  { database, serverPid }: SimulatedFleet,
  seconds: number,
  count: number,
  loops: readonly Loop[],
): Promise<Measured> {
  const times: number[] = [];
  let steps = 0;
  const waits = new Map<string, number>();
  const end = Date.now() + seconds * 1000;
  const [server, own, wal] = [serverCpuMs(serverPid), process.cpuUsage(), await walBytes(database)];
  const watching = watch(database, end, waits);
  await Promise.all(
    loops.map(async (loop) => {
      while (Date.now() < end) {
        const since = performance.now();
        loop.run = await loop.worker.turn(loop.run, loop.agents);
        times.push(performance.now() - since);
        steps += loop.agents.length;
      }
    }),
  );
  await watching;
  const used = process.cpuUsage(own);
  return {
    count,
    steps: steps / seconds,
    middleMs: percentile(times, 0.5),
    slowMs: percentile(times, 0.99),
    database: (serverCpuMs(serverPid) - server) / 1000 / seconds,
    workers: (used.user + used.system) / 1e6 / seconds,
    walKb: ((await walBytes(database)) - wal) / 1024 / steps,
    waits,
  };
}

const HEAD = [
  ...['runs', 'steps/s', 'median ms', '99 % ms', 'cores: database', 'cores: workers'],
  ...['WAL KB/step', 'waits for'],
];

function rowOf(of: Measured): readonly (string | number)[] {
  const waits = [of.count, of.steps, of.middleMs, of.slowMs, of.database, of.workers, of.walKb];
  return [...waits, mainWait(of.waits)];
}

function mainWait(waits: ReadonlyMap<string, number>): string {
  const [first] = [...waits].sort(([, a], [, b]) => b - a);
  return first?.[0] ?? 'nothing';
}

/** Where more load gives no more steps, and why. */
function verdict(measured: readonly Measured[]): string {
  const best = measured.reduce((most, each) => (each.steps > most.steps ? each : most));
  const cores = cpus().length;
  const busy = best.database + best.workers;
  const steps = Math.round(best.steps);
  const limit =
    busy > 0.85 * cores
      ? `the processor: PostgreSQL used ${best.database.toFixed(1)} and the workers ${best.workers.toFixed(1)} of ${cores} cores. On its own machine, PostgreSQL could carry about ${Math.round((steps * cores * 0.9) / best.database)} steps per second with as many cores`
      : `waits for ${mainWait(best.waits)}`;
  return `At most ${steps} steps per second, with ${best.count} busy runs. The limit was ${limit}.`;
}

/** Samples what the connections wait for. */
async function watch(database: Database, end: number, waits: Map<string, number>): Promise<void> {
  while (Date.now() < end - 200) {
    const rows = await database.query<{ event: string }>(
      `select wait_event_type || ' ' || wait_event as event from pg_stat_activity
        where pid <> pg_backend_pid() and state <> 'idle' and wait_event is not null
          and wait_event_type not in ('Client', 'Activity')`,
    );
    for (const { event } of rows) waits.set(event, (waits.get(event) ?? 0) + 1);
    await delay(50);
  }
}

async function walBytes(database: Database): Promise<number> {
  const [row] = await database.query<{ bytes: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes`,
  );
  return row?.bytes ?? 0;
}

/**
 * The time of a server and its processes, also of those that have ended. Without the pid of the server:
 * of all PostgreSQL servers of this machine.
 */
function serverCpuMs(server: number | undefined): number {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      if (!text.includes('(postgres)')) continue;
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      const isOurs = Number(pid) === server || Number(fields[1]) === server;
      if (server !== undefined && !isOurs) continue;
      // utime, stime, cutime and cstime.
      for (const field of fields.slice(11, 15)) ticks += Number(field);
    } catch {
      // The process has ended meanwhile.
    }
  }
  return ticks * 10;
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const since = performance.now();
  await act();
  return performance.now() - since;
}

function at<T>(values: readonly T[], index: number): T {
  const value = values[index % values.length];
  if (value === undefined) throw new Error('There are no workers.');
  return value;
}
