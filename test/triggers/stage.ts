/** A trigger with a clock and runs that a test controls. Its ledger is in files, on a disk that may fail. */
import { type Standing, type TriggeredRuns, triggerTurn } from '../../src/app/trigger-turn.ts';
import type { FoundTrigger } from '../../src/app/triggers.ts';
import type { Disk } from '../../src/journal/disk.ts';
import { fileOccasions } from '../../src/journal/file-occasions.ts';
import { type OccasionRecord, type Trigger, triggerName } from '../../src/model/trigger.ts';
import { UserError } from '../../src/model/user-error.ts';
import { inbox } from '../../src/triggers/inbox.ts';
import { occasionOf } from '../../src/triggers/occasion.ts';
import { hastyDisk } from '../journal/door.ts';

export class Stage {
  now = Date.parse('2026-05-01T00:00:00Z');
  readonly found: FoundTrigger;
  readonly logged: string[] = [];
  /** Every start, in order. A second start of the same run is a failure of the test. */
  readonly starts: { readonly run: string; readonly input: string | undefined }[] = [];
  readonly standings = new Map<string, Exclude<Standing, 'none'>>();
  readonly resumed: string[] = [];
  readonly stopped: string[] = [];
  /** Called before and after each effect on runs. It may throw, as a killed process ends there. */
  moment: () => void = () => {};
  refusal: UserError | undefined;
  isCurrent = true;
  /** The processes that live beside the one that asks. */
  alive: readonly number[] = [];

  readonly folder: string;
  readonly project: string;

  constructor(folder: string, trigger: Trigger, project = folder) {
    this.folder = folder;
    this.project = project;
    const key = { project, workflow: `${project}/flow`, name: triggerName(trigger) };
    this.found = { key, trigger, path: 'flow', workflowName: 'flow', isApproved: true };
  }

  ledger(disk: Disk = hastyDisk, pid = 1) {
    const clock = { now: () => this.now, at: (_: number, call: () => void) => soon(call) };
    const self = { pid, started: `${pid}`, boot: 'b', space: 's', host: 'h' };
    const isAlive = (one: { pid: number }) => one.pid === pid || this.alive.includes(one.pid);
    const world = { self, clock, isAlive, report() {} };
    return fileOccasions({ disk, folder: `${this.folder}/ledger`, lockWorld: () => world });
  }

  /** What a process does between its start and its end. */
  process(disk: Disk = hastyDisk, pid = 1) {
    const ledger = this.ledger(disk, pid);
    const { trigger, key } = this.found;
    const box = trigger.kind === 'files' ? inbox(this.project, trigger) : undefined;
    const parts = {
      ...{ ledger, runs: this.#runs(), died: new Map(), inbox: box, project: this.project },
      clock: { now: () => this.now },
      log: (text: string) => void this.logged.push(text),
      isCurrent: async () => this.isCurrent,
    };
    return {
      ledger,
      turn: () => triggerTurn(parts, this.found),
      deliver: (id: string, payload = '{}') =>
        ledger.record(
          occasionOf(key, 'flow', { kind: 'webhook', delivery: id }, this.now),
          payload,
        ),
    };
  }

  records(): Promise<readonly OccasionRecord[]> {
    return this.ledger().newest(this.found.key, 10_000);
  }

  /** The outcomes of all occasions, oldest first. */
  async outcomes(): Promise<readonly string[]> {
    return (await this.records()).map(({ outcome }) => outcome.kind).reverse();
  }

  finish(run = this.starts.at(-1)?.run ?? '', how: 'completed' | 'failed' = 'completed'): void {
    this.standings.set(run, how);
  }

  #runs(): TriggeredRuns {
    return {
      standing: async (id) => this.standings.get(id) ?? 'none',
      start: async (_found, { run }, input) => {
        this.moment();
        if (this.refusal) throw this.refusal;
        // As a store does: an id can be used once.
        if (this.standings.has(run)) throw new UserError('run-exists', `${run} exists.`, '');
        this.standings.set(run, 'live');
        this.starts.push({ run, input });
        this.moment();
      },
      resume: async (id) => {
        this.resumed.push(id);
        this.standings.set(id, 'live');
      },
      stop: async (id) => {
        this.moment();
        this.stopped.push(id);
        this.standings.set(id, 'failed');
        this.moment();
      },
    };
  }
}

function soon(call: () => void): () => void {
  const timer = setImmediate(call);
  return () => clearImmediate(timer);
}
