/**
 * A store that keeps runs only while this process lives, for tests. Several stores can share the same
 * runs, as several processes share files.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { JournaledEvent, RunEvent } from '../src/model/event.ts';
import type { Message } from '../src/model/message.ts';
import type { Now } from '../src/model/now.ts';
import { PositionConflict } from '../src/model/position-conflict.ts';
import type { Run } from '../src/model/run.ts';
import { RunLost } from '../src/model/run-lost.ts';
import { summaryOf } from '../src/model/run-summary.ts';
import { UserError } from '../src/model/user-error.ts';
import type {
  ChosenRun,
  EachEvent,
  Lease,
  LookedAtRun,
  Mailbox,
  MailReader,
  OwnedJournal,
  RecordName,
  RunOwner,
  RunStore,
  StepKey,
  StepRecords,
  SurveyedRun,
} from '../src/ports.ts';

export interface MemoryStoreParts {
  readonly apply: (run: Run | undefined, event: RunEvent) => Run;
  readonly sealedText: (chosen: ChosenRun) => string;
  /** The process that this store belongs to. */
  readonly self: RunOwner;
  readonly runs: MemoryRuns;
}

/** The runs that several stores share. */
export class MemoryRuns {
  readonly #kept = new Map<string, KeptRun>();
  readonly caches = new Map<string, string>();

  /** An unknown run is an empty one. */
  of(id: string): KeptRun {
    const kept = this.#kept.get(id) ?? newKeptRun();
    this.#kept.set(id, kept);
    return kept;
  }

  ids(): readonly string[] {
    const begun = [...this.#kept].filter(([, { events }]) => events.length > 0);
    return begun.map(([id]) => id).sort();
  }

  remove(id: string): void {
    const kept = this.of(id);
    this.#kept.delete(id);
    kept.isRemoved = true;
    notify(kept);
  }

  /** What an executor leaves. */
  keepRecord(id: string, step: StepKey, name: RecordName, content: Uint8Array): void {
    this.of(id).records.set(`${nameOf(step)} ${name}`, Uint8Array.from(content));
  }

  /** Makes the owner of a run look dead, so that another process may take the run. */
  expire(id: string): void {
    const kept = this.of(id);
    if (kept.lease) kept.lease.isExpired = true;
    notify(kept);
  }
}

interface KeptRun {
  readonly events: JournaledEvent[];
  run: Run | undefined;
  lease: { readonly owner: RunOwner; isExpired: boolean; now?: Now } | undefined;
  readonly seals: Set<string>;
  readonly mail: Message[];
  readonly records: Map<string, Uint8Array>;
  readonly files: Map<string, Uint8Array>;
  /** Called after each change. */
  readonly listeners: Set<() => void>;
  isRemoved: boolean;
}

function newKeptRun(): KeptRun {
  return {
    events: [],
    run: undefined,
    lease: undefined,
    seals: new Set(),
    mail: [],
    records: new Map(),
    files: new Map(),
    listeners: new Set(),
    isRemoved: false,
  };
}

export function memoryStore(parts: MemoryStoreParts): RunStore {
  const { runs, sealedText, apply } = parts;
  const begun = (id: string): KeptRun => {
    const kept = runs.of(id);
    if (kept.events.length === 0) throw noRun(id);
    return kept;
  };
  const ownerOf = ({ lease }: KeptRun) => (lease?.isExpired ? undefined : lease?.owner);
  const nowOf = ({ lease }: KeptRun) => (lease?.isExpired ? undefined : lease?.now);
  const look = async (id: string, each?: EachEvent): Promise<LookedAtRun> => {
    const kept = runs.of(id);
    const { run, seals } = kept;
    if (!run) return { kind: 'damaged', id, problem: noRun(id) };
    if (each) retell(kept.events, each);
    const isOwn = seals.has(sealedText(run));
    return { kind: 'stored', id, run, isOwn, owner: ownerOf(kept) };
  };
  const retell = (events: readonly JournaledEvent[], each: EachEvent) => {
    let run: Run | undefined;
    for (const event of events) {
      const before = run;
      run = apply(before, event);
      each(event, before, run);
    }
  };
  const survey = async (id: string): Promise<SurveyedRun> => {
    const found = await look(id);
    return found.kind === 'damaged' ? found : { ...found, run: summaryOf(found.run) };
  };
  return {
    list: async () => runs.ids(),
    survey: () => Promise.all(runs.ids().map(survey)),
    look,
    owner: async (id) => ownerOf(runs.of(id)),
    async *events(id, after = 0) {
      yield* begun(id).events.slice(after);
    },
    async *watch(id, after, signal) {
      const kept = begun(id);
      for (let position = after; !signal.aborted; ) {
        const event = kept.events[position];
        if (kept.isRemoved) throw noRun(id);
        if (event) {
          position = event.seq;
          yield event;
        } else await change(kept, signal);
      }
    },
    now: async (id) => nowOf(runs.of(id)),
    async *watchNow(id, signal) {
      const kept = runs.of(id);
      for (let last: Now | undefined, isFirst = true; !signal.aborted; isFirst = false) {
        const now = nowOf(kept);
        if (isFirst || now !== last) yield now;
        last = now;
        if (now === nowOf(kept)) await change(kept, signal);
      }
    },
    async *news(_, signal) {
      while (!signal.aborted) {
        await delay(10, undefined, { signal }).catch(() => {});
        if (!signal.aborted) yield;
      }
    },
    lease: async (id) => takeLease(parts, id),
    mailbox: (id) => memoryMailbox(runs.of(id)),
    records: (id) => memoryRecords(runs.of(id)),
    files: (id) => ({
      async keep(content) {
        const sha256 = createHash('sha256').update(content).digest('hex');
        runs.of(id).files.set(sha256, Uint8Array.from(content));
        return sha256;
      },
      read: async (sha256) => runs.of(id).files.get(sha256),
    }),
    cache: (name) => ({
      read: async () => runs.caches.get(name),
      write: async (text) => void runs.caches.set(name, text),
    }),
  };
}

function takeLease({ runs, self, apply, sealedText }: MemoryStoreParts, id: string): Lease {
  const kept = runs.of(id);
  if (kept.lease && !kept.lease.isExpired) throw leased(id, kept.lease.owner);
  const mine: NonNullable<KeptRun['lease']> = { owner: self, isExpired: false };
  kept.lease = mine;
  let opened: OwnedJournal | undefined;

  const check = () => {
    if (kept.isRemoved || kept.lease !== mine) throw lost(id, kept.lease?.owner);
    // A process that sends a heartbeat before another one takes its run keeps it.
    mine.isExpired = false;
  };
  const seal = (chosen: ChosenRun) => void kept.seals.add(sealedText(chosen));
  const openJournal = (): OwnedJournal => {
    if (opened) throw new Error(`The journal of ${id} is already open.`);
    opened = memoryJournal(id, kept, apply, check);
    return opened;
  };

  return {
    async create(events, after) {
      check();
      if (kept.events.length > 0) throw runExists(id);
      const journal = openJournal();
      await journal.append(events, after);
      seal(after);
      return { journal, unsealed: undefined };
    },
    async open() {
      check();
      const { run } = kept;
      if (!run) throw noRun(id);
      const journal = openJournal();
      return { run, isOwn: kept.seals.has(sealedText(run)), journal };
    },
    async salvage() {
      check();
      return undefined;
    },
    confirm: async () => check(),
    async seal(chosen) {
      check();
      seal(chosen);
      return undefined;
    },
    async publish(now) {
      check();
      mine.now = now;
      notify(kept);
    },
    async remove() {
      check();
      runs.remove(id);
    },
    async release() {
      await opened?.close();
      if (kept.lease === mine) kept.lease = undefined;
      notify(kept);
    },
  };
}

function memoryJournal(
  id: string,
  kept: KeptRun,
  apply: MemoryStoreParts['apply'],
  check: () => void,
): OwnedJournal {
  let isClosed = false;
  return {
    async append(events, after) {
      if (isClosed) throw new Error(`The journal of ${id} is closed.`);
      check();
      const expected = after.seq - events.length;
      const actual = kept.events.length;
      if (expected !== actual) throw new PositionConflict(id, expected, actual);
      for (const event of events) {
        kept.run = apply(kept.run, event);
        kept.events.push({ seq: kept.events.length + 1, ...event });
      }
      notify(kept);
    },
    async close() {
      isClosed = true;
    },
  };
}

function memoryMailbox(kept: KeptRun): Mailbox {
  return {
    async post(message) {
      if (kept.mail.some((other) => isSameQuestion(message, other))) return false;
      kept.mail.push(message);
      notify(kept);
      return true;
    },
    messages: async () => [...kept.mail],
    async read({ onMessage }: MailReader) {
      const seen = new Set<Message>();
      const deliver = () => {
        for (const message of kept.mail.filter((one) => !seen.has(one))) {
          seen.add(message);
          onMessage(message, async () => {
            const at = kept.mail.indexOf(message);
            if (at >= 0) kept.mail.splice(at, 1);
          });
        }
      };
      kept.listeners.add(deliver);
      deliver();
      return { close: () => void kept.listeners.delete(deliver) };
    },
  };
}

function memoryRecords({ records }: KeptRun): StepRecords {
  return {
    async read(step, name, maxBytes) {
      const content = records.get(`${nameOf(step)} ${name}`);
      return content && content.length <= maxBytes ? content : undefined;
    },
  };
}

const nameOf = ({ agent, step }: StepKey) => `${step} ${agent}`;

function isSameQuestion(a: Message, b: Message): boolean {
  if (a.kind === 'stop' || b.kind === 'stop' || a.agent !== b.agent) return false;
  if (a.kind === 'answer') return b.kind === 'answer' && a.askedAt === b.askedAt;
  if (a.kind === 'say') return b.kind === 'say' && a.words === b.words;
  return b.kind === 'permission' && a.step === b.step && a.request === b.request;
}

function notify({ listeners }: KeptRun): void {
  for (const listener of listeners) listener();
}

/** Resolves at the next change, or when aborted. */
function change({ listeners }: KeptRun, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      listeners.delete(settle);
      signal.removeEventListener('abort', settle);
      resolve();
    };
    listeners.add(settle);
    signal.addEventListener('abort', settle);
  });
}

const SEE_ALL = 'To see all runs: raymond list';

function noRun(id: string): UserError {
  return new UserError('no-run', `There is no run ${id}.`, SEE_ALL);
}

function runExists(id: string): UserError {
  return new UserError('run-exists', `The run ${id} already exists.`, 'Choose another id.');
}

function leased(id: string, { pid }: RunOwner): UserError {
  return new UserError(
    'run-locked',
    `Process ${pid} is working on the run ${id}.`,
    'Wait for it, or stop it.',
  );
}

function lost(id: string, owner: RunOwner | undefined): RunLost {
  const message = `This process has lost the run ${id}.`;
  return new RunLost('lock-lost', message, SEE_ALL, { owner });
}
