/**
 * INV-38: A worker that cannot renew its lease ends its steps before others may take them, and then does
 * nothing more under its old name.
 *
 * One life of a worker: from its registration until it is stopped or lost.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../model/message-of.ts';
import type { Clock, StepKind } from '../ports.ts';
import { checkHead } from '../postgres/head.ts';
import { newestRow } from '../postgres/own-run.ts';
import { setBack } from '../postgres/run-errors.ts';
import { findRow, openRuns, type RunRow, runOf, wake } from '../postgres/run-row.ts';
import { ForeignRow } from '../postgres/seals.ts';
import { hearHead } from '../postgres/seen-heads.ts';
import { CarriedRun, type Life } from './carried-run.ts';
import { leave, putBack, type StepOfRun, takeSteps } from './claims.ts';
import { Heartbeat } from './heartbeat.ts';
import type { FleetPorts, Guard } from './ports.ts';
import { refuse, termsOf } from './refusals.ts';
import type { StopHow, StopRequests } from './stop-requests.ts';
import { takeDue } from './wakeups.ts';
import { buryDead, register, type Traffic, unregister } from './worker-table.ts';

/** Resolves when the worker has stopped, or has lost its lease, or when it is stopped before it has one. */
export async function live(ports: FleetPorts, stops: StopRequests): Promise<'stopped' | 'lost'> {
  const id = ports.newId();
  const { notices, report, worker: facts } = ports;
  // The heartbeat uses the connection that listens, and a distant database takes long to open one.
  const endListening = notices.on('work', undefined, () => {});
  try {
    const wait = (why: string) =>
      report(`The worker ${facts.name} waits for a connection: ${why}.`);
    await stops.before(notices.ready(wait));
    const registered = await stops.before(register(ports.database, id, facts, ports.leaseMs));
    if (!registered) return 'lost';
    // Until here, others may take the steps that an earlier process left, so its guard still has to end them.
    const guard = await ports.guard();
    const worker = new WorkerLife(ports, id, guard, registered.sentAt);
    return await worker.live(registered.left, stops);
  } finally {
    endListening();
  }
}

class WorkerLife implements Life {
  readonly id: string;
  readonly clock: Clock;
  readonly #ports: FleetPorts;
  readonly #guard: Guard;
  readonly #heartbeat: Heartbeat;
  readonly #runs = new Map<string, Promise<CarriedRun | undefined>>();
  /** Those of them that are open. */
  readonly #open = new Map<string, CarriedRun>();
  /** The runs that are being closed. They must not be opened meanwhile. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #ended: Promise<'stopped' | 'lost'>;
  #end: (how: 'stopped' | 'lost') => void = () => {};
  /** The runs that it looks at. */
  readonly #looks = new Map<string, Promise<void>>();
  #launching: Promise<void> | undefined;
  #sweeping: Promise<void> | undefined;
  #isDraining = false;
  readonly #stopping = new AbortController();
  #isClosed = false;
  #isLost = false;
  #awaited: ReadonlySet<string> = new Set();
  #wakeSweep: (() => void) | undefined;
  #steps = 0;
  readonly #earlierTrips: number;

  constructor(ports: FleetPorts, id: string, guard: Guard, registeredAt: number) {
    this.id = id;
    this.#ports = ports;
    this.#guard = guard;
    this.#earlierTrips = ports.database.roundTrips();
    this.#heartbeat = new Heartbeat(
      {
        ...{ database: ports.database, notices: ports.notices, leaseMs: ports.leaseMs },
        ...{ worker: id, guard },
        traffic: () => this.#traffic(),
        onRenewed: (latencyMs) => ports.onRenewed?.({ ...this.#traffic(), latencyMs }),
        onLost: (why) => this.#lost(why),
      },
      registeredAt,
    );
    this.clock = {
      now: () => Math.floor(this.#heartbeat.now()),
      at: (time, callback) => {
        const timer = setTimeout(callback, Math.max(0, time - this.#heartbeat.now()));
        return () => clearTimeout(timer);
      },
    };
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  isOver(): boolean {
    return this.#isLost || this.#heartbeat.isOver;
  }

  isDraining(): boolean {
    return this.#isDraining;
  }

  isAwaited(kind: StepKind): boolean {
    return this.#awaited.has(kind);
  }

  countStep(): void {
    this.#steps++;
  }

  #traffic(): Traffic {
    const roundTrips = this.#ports.database.roundTrips() - this.#earlierTrips;
    return { steps: this.#steps, roundTrips };
  }

  seek(): void {
    this.#wakeSweep?.();
  }

  lose(): void {
    this.#lost('others have declared it dead');
  }

  async live(left: readonly string[], stops: StopRequests): Promise<'stopped' | 'lost'> {
    const { recovery, notices } = this.#ports;
    const endings = [
      stops.on((how) => void this.#stop(how).catch((error) => this.#report(error))),
      notices.on('work', undefined, () => this.seek()),
      notices.on('events', undefined, (run, seq) => this.#hear(run, seq)),
      notices.on('head', undefined, (notice) => this.#hearHead(notice)),
    ];
    let failure: { readonly error: unknown } | undefined;
    const starting = this.#start(left).catch((error) => {
      failure = { error };
      return this.#stop('now');
    });
    try {
      const how = await Promise.race([starting.then(() => this.#ended), this.#ended]);
      if (failure) throw failure.error;
      // Without its database, it waits until that is back.
      if (how === 'lost') await stops.before(recovery.stop());
      return how;
    } finally {
      for (const end of endings) end();
      this.#heartbeat.close();
      this.#guard.end();
    }
  }

  async #start(left: readonly string[]): Promise<void> {
    await this.#endStrays(left);
    const isOver = () => this.isOver() || this.#isDraining;
    if (isOver()) return;
    for (const run of left) this.#look(run);
    this.#sweeping = this.#sweep();
    this.#launching = this.#ports.recovery.start(this.id, () => this.#bury(), isOver);
    await this.#launching;
  }

  /** Ends what an earlier life has left, except the steps that this one adopts. */
  async #endStrays(adopted: readonly string[]): Promise<void> {
    const others = (await this.#ports.leftRuns()).filter((run) => !adopted.includes(run));
    await this.#ports.endProcesses(others, STRAY_GRACE_MS);
  }

  /** Decides what is due in a run, and begins the steps that this worker has taken. */
  #look(id: string): Promise<void> {
    const known = this.#looks.get(id);
    if (known) return known;
    const look = this.#with(id, (carried) => carried.look()).finally(() => this.#looks.delete(id));
    this.#looks.set(id, look);
    return look;
  }

  /** Does something with a run. If a command has changed the run meanwhile, opens it again for that. */
  async #with(id: string, act: (run: CarriedRun) => Promise<void>): Promise<void> {
    for (;;) {
      const carried = await this.#carried(id).catch(() => this.#giveBack(id));
      if (!carried || this.isOver()) return;
      await act(carried);
      if (!carried.isStale) return;
    }
  }

  /** Gives the steps of a run that cannot be opened here to others, after a pause: the next attempt may be here. */
  async #giveBack(id: string): Promise<undefined> {
    const { signal } = this.#stopping;
    const pause = delay(UNOPENED_MS, undefined, { ref: false, signal }).catch(() => {});
    const giving = pause.then(() => this.#leave(id));
    this.#closing.set(
      id,
      giving.catch(() => {}),
    );
    await giving.finally(() => this.#closing.delete(id)).catch(() => {});
  }

  /** Ends what an earlier life has left of a run, because the next worker repeats its steps. */
  async #leave(id: string): Promise<void> {
    const { database, endProcesses } = this.#ports;
    await endProcesses([id], STRAY_GRACE_MS);
    await leave(database, id, this.id);
    this.#guard.unwatch(id);
  }

  /** The run with everything that its steps need here. */
  #carried(id: string): Promise<CarriedRun | undefined> {
    const known = this.#runs.get(id);
    if (known) return this.#fresh(id, known);
    const opening = this.#opening(id);
    this.#runs.set(id, opening);
    void opening.then(
      (carried) => (carried ? this.#open.set(id, carried) : this.#forget(id, opening)),
      (error) => {
        this.#forget(id, opening);
        this.#ports.report(`${id}: ${messageOf(error)}`);
      },
    );
    return opening;
  }

  #forget(id: string, opening: Promise<CarriedRun | undefined>): void {
    if (this.#runs.get(id) === opening) this.#runs.delete(id);
  }

  /** Undefined if there is no such run, or if this worker refuses it. */
  async #opening(id: string): Promise<CarriedRun | undefined> {
    await this.#closing.get(id);
    if (this.#isClosed) return undefined;
    const { database } = this.#ports;
    const [row, terms] = await Promise.all([
      ...([findRow(database, id), termsOf(database, id, this.id)] as const),
    ]);
    if (!row || !terms || terms.isRefused) return undefined;
    this.#guard.watch(id);
    const carried = await this.#openWatched(id, row);
    if (typeof carried === 'object') return carried;
    await this.#refuse(id, terms.reasons, `${id} is left to other workers. ${carried}`);
    return undefined;
  }

  /** Gives the reason if this worker refuses the run. */
  async #openWatched(id: string, found: RunRow): Promise<CarriedRun | string> {
    const { database, runs, heads } = this.#ports;
    try {
      const { row, missed } = await newestRow(database, { ...runs, heads }, id, found);
      if (missed) return setBack(id, row, missed);
      await checkHead(runs.rows, id, row);
      const run = await runOf(database, runs, id, row);
      heads.note(row);
      await heads.save();
      return await CarriedRun.open(this.#ports, this, run, row);
    } catch (error) {
      if (error instanceof ForeignRow) return error.message;
      throw error;
    }
  }

  /** Leaves a run to the others. */
  async #refuse(id: string, reasons: string, why: string): Promise<void> {
    const { database, report } = this.#ports;
    if (await refuse(database, id, this.id, reasons)) report(why);
    await this.#leave(id);
    await wake(database, id);
  }

  /** Opens a run again that a command has changed. Then no step of it runs. */
  async #fresh(
    id: string,
    known: Promise<CarriedRun | undefined>,
  ): Promise<CarriedRun | undefined> {
    const carried = await known;
    if (this.#runs.get(id) !== known) return this.#carried(id);
    if (!carried?.isStale) return carried;
    void this.#close(id, carried);
    return this.#carried(id);
  }

  /** Ends what a run keeps here. */
  #close(id: string, carried: CarriedRun): Promise<void> {
    this.#runs.delete(id);
    this.#open.delete(id);
    const closing = carried
      .close()
      .catch((error) => this.#report(error))
      .then(() => {
        this.#closing.delete(id);
        // After a loss, the guard ends what this could not.
        if (!this.isOver()) this.#guard.unwatch(id);
      });
    this.#closing.set(id, closing);
    return closing;
  }

  #hear(run: string | undefined, seq: number | undefined): void {
    const concerned = run === undefined ? [...this.#runs.values()] : [this.#runs.get(run)];
    for (const carried of concerned) void carried?.then((one) => one?.hear(seq)).catch(() => {});
  }

  #hearHead(notice: string | undefined): void {
    const { heads, runs } = this.#ports;
    if (notice !== undefined) void hearHead(heads, runs.rows, notice);
  }

  /** Looks for runs that are due and for steps that wait, until the end. */
  async #sweep(): Promise<void> {
    let nextTidying = 0;
    while (!this.isOver() && !this.#isDraining) {
      try {
        const rested = delay(LEAST_SWEEP_MS);
        const woken = this.#sleep();
        await this.#lookForWork();
        if (Date.now() >= nextTidying) {
          nextTidying = Date.now() + TIDY_EVERY_MS;
          await this.#ports.heads.save();
          await this.#closeIdle();
        }
        await woken;
        // Many notices in a row are one reason to look.
        await rested;
      } catch (error) {
        this.#report(error);
        await delay(SWEEP_MS);
      }
    }
  }

  /** Resolves after a while, or when there is news. */
  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, SWEEP_MS * (0.75 + Math.random() / 2));
      this.#wakeSweep = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #lookForWork(): Promise<void> {
    const { database, worker, limitsForAll } = this.#ports;
    const [due, work] = await Promise.all([
      takeDue(database, this.id, MOST_DUE),
      takeSteps(database, this, worker.limits, limitsForAll),
    ]);
    this.#awaited = work.awaited;
    // The request to stop may have come while the steps were taken.
    if (this.#isDraining) return putBack(database, this.id, work.taken);
    const runs = new Set([...due, ...work.taken.map(({ run }) => run)]);
    // A look that has begun may have missed what these are about.
    for (const id of runs) void this.#open.get(id)?.look();
    const isBegun = ({ run, agent }: StepOfRun) => this.#open.get(run)?.isCarrying(agent);
    for (const step of work.had) if (!isBegun(step)) runs.add(step.run);
    const looks = [...runs].map((id) => this.#look(id));
    if (due.length < MOST_DUE) return;
    // Does not wait long: a run that cannot be decided now must not hold up the others.
    const enough = new AbortController();
    const { signal } = enough;
    const longest = delay(LONGEST_LOOK_MS, undefined, { signal }).catch(() => {});
    await Promise.race([Promise.all(looks), longest]).finally(() => enough.abort());
    this.seek();
  }

  async #bury(): Promise<void> {
    const { database, report } = this.#ports;
    for (const name of await buryDead(database))
      report(`The worker ${name} has sent no heartbeat. Others take its steps.`);
    this.seek();
  }

  /** Runs without a step here keep nothing, once they are over. */
  async #closeIdle(): Promise<void> {
    const idle = [...this.#open].filter(([, carried]) => carried.isIdle);
    // They may have ended on other workers.
    const open = await openRuns(
      this.#ports.database,
      idle.map(([id]) => id),
    );
    for (const [id, carried] of idle)
      if (!open.has(id) && this.#open.get(id) === carried && carried.isIdle)
        await this.#close(id, carried);
  }

  async #stop(how: StopHow): Promise<void> {
    const isFirst = !this.#isDraining;
    this.#isDraining = true;
    this.#stopping.abort();
    this.seek();
    if (how === 'now') for (const one of await this.#opened()) one.stopSteps();
    if (!isFirst) return;
    // Takes no more steps, and waits for those that run.
    await this.#launching?.catch(() => {});
    await this.#ports.recovery.stop();
    await this.#sweeping;
    while (!this.isOver() && (await this.#opened()).some((one) => !one.isIdle)) await delay(50);
    this.#isClosed = true;
    await this.#closeAll();
    await this.#ports.heads.save();
    if (this.isOver()) return;
    await unregister(this.#ports.database, this.id);
    this.#end('stopped');
  }

  async #closeAll(): Promise<void> {
    for (const [id, opening] of this.#runs) {
      const carried = await opening.catch(() => undefined);
      if (carried && this.#runs.get(id) === opening) await this.#close(id, carried);
    }
    await Promise.all(this.#closing.values());
  }

  async #opened(): Promise<readonly CarriedRun[]> {
    const all = await Promise.all(
      [...this.#runs.values()].map((one) => one.catch(() => undefined)),
    );
    return all.filter((one) => one !== undefined);
  }

  #report(error: unknown): void {
    if (!this.isOver()) this.#ports.report(messageOf(error));
  }

  #lost(why: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#heartbeat.close();
    const { worker, report, endProcesses, leaseMs } = this.#ports;
    report(`The worker ${worker.name} ends its steps: ${why}.`);
    this.#guard.ending();
    // A step that still waits for its files or its session must not begin later.
    for (const opening of this.#runs.values())
      void opening.then((one) => one?.stopSteps()).catch(() => {});
    const ended = endProcesses([...this.#runs.keys(), ...this.#closing.keys()], leaseMs / 20);
    void ended.finally(async () => {
      this.#guard.end();
      for (const one of await this.#opened()) one.abandon();
      this.seek();
      this.#end('lost');
    });
  }
}

const SWEEP_MS = 1_000;
const LEAST_SWEEP_MS = 25;
const TIDY_EVERY_MS = 2_000;
const UNOPENED_MS = 10_000;
const MOST_DUE = 20;
const LONGEST_LOOK_MS = 2_000;
const STRAY_GRACE_MS = 1_000;
