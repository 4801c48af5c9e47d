/** Who works on a run: the holder of its lease, or the workers that carry it. */
import { isHere, type LocatedProcess, type ProcessIdentity } from '../journal/lock-owner.ts';
import type { RunOwner } from '../ports.ts';
import type { Queries } from './database.ts';
import { isRefused } from './refused-runs.ts';

/** This process, and which others live. */
export interface ProcessWorld {
  readonly self: LocatedProcess;
  isAlive(process: ProcessIdentity): boolean;
}

/** Whether a run that has not ended belongs to workers even if none lives: the next one takes it. */
export interface OwnerParts extends ProcessWorld {
  readonly areCarried: boolean;
}

/** The columns that show the owner of a run. Both parameters are expressions of SQL. */
export const ownerColumns = (id: string, status: string) => `
  (select owner from raymond.leases where run = ${id} and until > clock_timestamp()) as holder,
  ${workerColumn(id, status)} as worker, ${status} <> 'ended' as "isOpen"`;

/** All workers carry every run that they do not refuse. One that executes a step of it comes first. */
const workerColumn = (id: string, status: string) => `
  case when ${status} <> 'ended' then (
    select json_build_object('id', w.id, 'name', w.name, 'host', w.host, 'pid', w.pid)::text
    from raymond.workers w where w.lease_until > clock_timestamp() and not ${isRefused(id, 'w.id')}
    order by exists (select from raymond.claims c where c.run = ${id} and c.worker = w.id) desc,
      w.started_at limit 1
  ) end`;

export interface OwnerColumns {
  readonly holder: string | null;
  readonly worker: string | null;
  readonly isOpen: boolean | null;
}

export function ownerIn(
  { holder, worker, isOpen }: OwnerColumns,
  world: OwnerParts,
): RunOwner | undefined {
  const owner = (holder === null ? undefined : holderIn(holder, world)) ?? workerIn(worker);
  return owner ?? (isOpen && world.areCarried ? AWAITED : undefined);
}

const AWAITED: RunOwner = {
  ...{ pid: 0, started: '', boot: '', name: 'the next worker', isHere: false },
  isAwaited: true,
};

export async function ownerOf(
  queries: Queries,
  world: OwnerParts,
  id: string,
): Promise<RunOwner | undefined> {
  const status = '(select status from raymond.runs where id = $1)';
  const sql = `select ${ownerColumns('$1', status)}`;
  const [columns] = await queries.query<OwnerColumns>(sql, [id]);
  return columns && ownerIn(columns, world);
}

/** A live worker that carries the run, unless the run has ended. */
export async function workerOf(queries: Queries, id: string): Promise<RunOwner | undefined> {
  const sql = `select ${workerColumn('r.id', 'r.status')} as worker from raymond.runs r where r.id = $1`;
  const [found] = await queries.query<{ worker: string | null }>(sql, [id]);
  return workerIn(found?.worker ?? null);
}

/** The holder of a lease. A process that can be seen from here, and is dead, holds nothing. */
export function holderIn(text: string, world: ProcessWorld): RunOwner | undefined {
  const holder: LocatedProcess = JSON.parse(text);
  const { pid, started, boot, host } = holder;
  const isSeen = isHere(holder, world.self);
  if (isSeen && !world.isAlive(holder)) return undefined;
  const name = isSeen ? `process ${pid}` : `process ${pid} on ${host}`;
  return { pid, started, boot, name, isHere: isSeen };
}

function workerIn(text: string | null): RunOwner | undefined {
  if (text === null) return undefined;
  const { id, name, host, pid }: WorkerFacts = JSON.parse(text);
  return { pid, started: id, boot: '', name: `the worker ${name} on ${host}`, isHere: false };
}

interface WorkerFacts {
  readonly id: string;
  readonly name: string;
  readonly host: string;
  readonly pid: number;
}
