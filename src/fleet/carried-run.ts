import { setTimeout as delay } from 'node:timers/promises';
import type { RunEvent } from '../model/event.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import type { Input } from '../model/input.ts';
import { messageOf } from '../model/message-of.ts';
import type { Run } from '../model/run.ts';
import type { Clock, Observer, StepKey, StepKind } from '../ports.ts';
import type { Transaction } from '../postgres/database.ts';
import { checkHead } from '../postgres/head.ts';
import { REFUSED_MAIL } from '../postgres/mailbox.ts';
import { findRow, type RunRow } from '../postgres/run-row.ts';
import { ForeignRow } from '../postgres/seals.ts';
import type { Decided } from '../run/decider.ts';
import { Inbox } from '../run/inbox.ts';
import { Steps } from '../run/steps.ts';
import { actOn, type HoldRun, takeTurn } from '../run/turn.ts';
import { holdInDatabase, type SharedTurn } from './hold-in-database.ts';
import { KnownRun } from './known-run.ts';
import { RunBusy, RunChanged, RunGone, WorkerLost } from './lock-run.ts';
import type { FleetPorts, KeepWithStep, RunPorts, Store } from './ports.ts';

/** The part of a worker that its runs use. */
export interface Life {
  readonly id: string;
  readonly clock: Clock;
  /** Whether the worker may still act. Checked before everything that cannot be undone. */
  isOver(): boolean;
  isDraining(): boolean;
  /** Whether other steps of this kind wait. */
  isAwaited(kind: StepKind): boolean;
  /** A step has ended here. */
  countStep(): void;
  /** There are steps that wait, or there is room for more. */
  seek(): void;
  /** Others have declared this worker dead. */
  lose(): void;
}

/** The steps of one run that this worker executes. */
export class CarriedRun {
  readonly #ports: FleetPorts;
  readonly #life: Life;
  readonly #parts: RunPorts;
  readonly #steps: Steps;
  readonly #inbox: Inbox<Input>;
  readonly #observer: Observer;
  /** The agents whose steps run here. */
  readonly #carried = new Map<string, CarriedAgent>();
  readonly #kept = new Map<string, Store[]>();
  readonly #records = new Map<string, Store>();
  readonly #known: KnownRun;
  readonly #hold: HoldRun;
  #isLookDue = false;
  #isNewsDue = false;
  #pump: Promise<void> | undefined;
  #isStale = false;
  #trouble: string | undefined;
  #hasRefusedMail = false;

  static async open(ports: FleetPorts, life: Life, run: Run, row: RunRow): Promise<CarriedRun> {
    const kept = new Map<string, Store[]>();
    const keep: KeepWithStep = (step, store) => {
      kept.set(keyOf(step), [...(kept.get(keyOf(step)) ?? []), store]);
    };
    const parts = await ports.openRun(run, row, keep);
    return new CarriedRun(ports, life, run, row, parts, kept);
  }

  private constructor(
    ports: FleetPorts,
    life: Life,
    run: Run,
    row: RunRow,
    parts: RunPorts,
    kept: Map<string, Store[]>,
  ) {
    this.#ports = ports;
    this.#life = life;
    this.#parts = parts;
    this.#kept = kept;
    this.#inbox = new WakingInbox(() => this.#wake());
    this.#observer = ports.observer(run.id, life.id);
    const { clock } = life;
    const isOver = () => life.isOver();
    this.#steps = new Steps(this.#inbox, { ...parts, clock, live: this.#observer.live, isOver });
    this.#known = new KnownRun(this.#steps.workflows, run, row);
    const { database, runs, worker, openLetter } = ports;
    const { library, load, pack } = parts;
    const { name, place } = worker;
    this.#hold = holdInDatabase(
      {
        ...{ database, runs, library, load, pack, openLetter },
        worker: { id: life.id, name, place },
      },
      this.#known,
      {
        isHeld: ({ agent, step }) => this.#carried.get(agent)?.step === step,
        mayContinue: (agent, kind) => this.#mayContinue(agent, kind),
        keep: (queries, step) => this.#keep(queries, step),
        onStored: (turn) => this.#stored(turn),
      },
    );
  }

  get #run(): Run {
    return this.#known.run;
  }

  get isIdle(): boolean {
    return this.#carried.size === 0 && this.#pump === undefined;
  }

  /** Whether a step of this agent runs here. */
  isCarrying(agent: string): boolean {
    return this.#carried.has(agent);
  }

  /** Whether it takes no more steps. It was closed, or a command has changed what its steps need. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /**
   * Decides what has become due: messages, deadlines, a new run, steps that this worker has taken. Resolves
   * when it is decided, or when the run is stale.
   */
  async look(): Promise<void> {
    this.#isLookDue = true;
    this.#wake();
    await this.#pump;
  }

  /** The run has this many events now. Most notices are about those that this worker has stored itself. */
  hear(seq = Number.POSITIVE_INFINITY): void {
    if (this.#carried.size === 0 || seq <= this.#run.seq) return;
    this.#isNewsDue = true;
    this.#wake();
  }

  /** Stops the steps. Their ends are decided as usual, so that other workers repeat them. */
  stopSteps(): void {
    this.#steps.stopAll();
  }

  /** Ends what the executors keep. No step may run. */
  async close(): Promise<void> {
    this.#isStale = true;
    await this.#pump;
    await this.#observer.close?.();
    await this.#steps.close();
  }

  /** The worker is lost: it decides nothing more. */
  abandon(): void {
    this.#carried.clear();
  }

  #wake(): void {
    this.#pump ??= this.#work().finally(() => {
      this.#pump = undefined;
      if (this.#hasWork()) this.#wake();
    });
  }

  #hasWork(): boolean {
    if (this.#life.isOver() || this.#isStale) return false;
    return this.#isLookDue || this.#isNewsDue || !this.#inbox.isEmpty;
  }

  async #work(): Promise<void> {
    // Everything that arrives in the same turn of the event loop shares a transaction.
    await Promise.resolve();
    while (this.#hasWork()) {
      const isOnlyNews = !this.#isLookDue && this.#inbox.isEmpty;
      this.#isNewsDue = false;
      if (isOnlyNews) await this.#catchUp().catch((error) => this.#recover(error, []));
      else await this.#turn();
    }
    if (this.#life.isOver()) this.abandon();
  }

  async #turn(): Promise<void> {
    const inputs = this.#inbox.takeNow();
    this.#isLookDue = false;
    try {
      await this.#readRecords(inputs);
      await takeTurn(
        {
          hold: this.#hold,
          ...{ steps: this.#steps, observer: this.#observer, newId: this.#ports.newId },
          ...{ attended: () => true, patient: true },
        },
        inputs,
      );
    } catch (error) {
      await this.#recover(error, inputs);
    }
  }

  /** Reads what the steps said that have ended. */
  async #readRecords(inputs: readonly Input[]): Promise<void> {
    for (const input of inputs) {
      if (input.kind !== 'step-ended' || this.#records.has(keyOf(input))) continue;
      const kind = this.#carried.get(input.agent)?.kind;
      const reading = kind && this.#ports.recordOf(this.#run.id, input, kind);
      // A record that cannot be read must not keep the step from ending.
      const store = await reading?.catch(() => undefined);
      if (store) this.#records.set(keyOf(input), store);
    }
  }

  async #recover(error: unknown, inputs: readonly Input[]) {
    if (this.#life.isOver()) return;
    if (error instanceof WorkerLost) {
      this.#life.lose();
      return;
    }
    if (error instanceof RunGone || error instanceof RunChanged || error instanceof ForeignRow) {
      // Opening it again shows whether it is gone, and whether this worker has to refuse it.
      this.#isStale = true;
      this.#steps.stopAll();
      this.abandon();
      return;
    }
    if (!(error instanceof RunBusy)) this.#reportOnce(error);
    await delay(error instanceof RunBusy ? BUSY_MS : TROUBLE_MS);
    for (const input of inputs) this.#inbox.put(input);
    this.#isLookDue = true;
  }

  #reportOnce(error: unknown): void {
    const text = messageOf(error);
    if (text !== this.#trouble)
      this.#ports.report(`${this.#run.id}: ${text} Raymond tries it again every few seconds.`);
    this.#trouble = text;
  }

  #reportMail(): void {
    if (!this.#hasRefusedMail) this.#ports.report(`${this.#run.id}: ${REFUSED_MAIL}`);
    this.#hasRefusedMail = true;
  }

  #stored({ news, decided, taken, isWaiting, hasRefusedMail }: SharedTurn): void {
    this.#note();
    if (hasRefusedMail) this.#reportMail();
    const had = this.#carried.size;
    for (const { event } of [...news, ...decided]) this.#release(event, decided);
    const hasRoom = this.#carried.size < had;
    const since = this.#life.clock.now();
    for (const { agent, step, kind } of taken) this.#carried.set(agent, { step, kind, since });
    if (isWaiting || hasRoom) this.#life.seek();
  }

  /** The step of an agent has ended. The worker continues with its next step, or is done with the agent. */
  #release(event: RunEvent, decided: readonly Decided[]): void {
    if (!isStepEnd(event)) return;
    const { agent, step } = event;
    this.#kept.delete(keyOf({ agent, step }));
    this.#records.delete(keyOf({ agent, step }));
    const carried = this.#carried.get(agent);
    if (carried?.step !== step) return;
    this.#life.countStep();
    const next = decided.find(
      ({ event: one }) => one.type === 'step-started' && one.agent === agent && !one.queued,
    );
    if (next?.event.type === 'step-started')
      this.#carried.set(agent, { ...carried, step: next.event.step });
    else this.#carried.delete(agent);
  }

  #mayContinue(agent: string, kind: StepKind): boolean {
    const carried = this.#carried.get(agent);
    if (carried?.kind !== kind || this.#life.isDraining()) return false;
    const isLong = this.#life.clock.now() - carried.since > LONG_BATCH_MS;
    return !isLong || !this.#life.isAwaited(kind);
  }

  async #keep(queries: Transaction, step: StepKey): Promise<void> {
    await this.#records.get(keyOf(step))?.(queries);
    for (const store of this.#kept.get(keyOf(step)) ?? []) await store(queries);
  }

  /** Remembers the position, so that the run cannot be set back to an earlier one unnoticed. */
  #note(): void {
    this.#ports.heads.note({ ...this.#known.mark, seq: this.#run.seq });
  }

  /** Reads what others have decided. Some of it concerns the steps here, such as a stop. */
  async #catchUp(): Promise<void> {
    const { database, runs } = this.#ports;
    const { id, seq } = this.#run;
    const row = await findRow(database, id);
    if (!row || (row.seq === seq && row.link === this.#known.mark.link)) return;
    await checkHead(runs.rows, id, row);
    const { load } = this.#parts;
    const { decider, news } = await this.#known.follow(database, runs.rows, row, load);
    this.#known.keep(decider, row);
    this.#note();
    actOn({ steps: this.#steps, observer: this.#observer }, news);
  }
}

interface CarriedAgent {
  readonly step: number;
  readonly kind: StepKind;
  readonly since: number;
}

/** After this time, an agent goes back to the queue if others wait. */
const LONG_BATCH_MS = 5_000;
const BUSY_MS = 1_000;
const TROUBLE_MS = 2_000;

const keyOf = ({ agent, step }: StepKey) => `${step} ${agent}`;

class WakingInbox extends Inbox<Input> {
  readonly #onPut: () => void;

  constructor(onPut: () => void) {
    super();
    this.#onPut = onPut;
  }

  override put(item: Input): void {
    super.put(item);
    this.#onPut();
  }
}
