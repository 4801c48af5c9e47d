/**
 * INV-45: No run is started for an occasion that is not in the ledger, and none for one that has a run.
 *
 * One turn of a trigger: records what is due, then starts what may start. A process can be killed at any point of
 * it. The next turn, of any process, finds the record and looks whether the run exists, because the id of the run
 * follows from the occasion.
 */
import {
  type Occasion,
  type OccasionCause,
  type OccasionOutcome,
  type OccasionRecord,
  startedByOf,
  startedByText,
} from '../model/trigger.ts';
import { UserError } from '../model/user-error.ts';
import type { Clock, Occasions } from '../ports.ts';
import { dueTimes, isLate, nextTime, ON_TIME_MS } from '../triggers/due.ts';
import { type FoundFile, type Inbox, putAway, STABLE_MS } from '../triggers/inbox.ts';
import { occasionOf } from '../triggers/occasion.ts';
import type { FoundTrigger } from './triggers.ts';

/** The runs of triggers, as a turn sees them. */
export interface TriggeredRuns {
  standing(id: string): Promise<Standing>;
  /** Starts the run of an occasion, or throws a UserError. */
  start(found: FoundTrigger, occasion: Occasion, input: string | undefined): Promise<void>;
  /** Continues a run that a crash has left. */
  resume(id: string): Promise<void>;
  /** Resolves when no process works on the run. */
  stop(id: string): Promise<void>;
}

/**
 * A run that a person stopped is over. One that waits for an answer is live. A shutdown counts as a crash.
 * `beginning`: a process is about to begin it. If the one that started it is gone, it may also end before that.
 */
export type Standing = 'none' | 'beginning' | 'live' | 'crashed' | 'completed' | 'failed';

export interface TurnParts {
  readonly project: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly ledger: Occasions;
  readonly runs: TriggeredRuns;
  readonly log: (text: string) => void;
  /** For a trigger of files. */
  readonly inbox?: Inbox | undefined;
  /** Whether the workflow still has this trigger, and the user still approves of it. */
  readonly isCurrent: () => Promise<boolean>;
  /** How often the process of a run died before the run began. */
  readonly died: Map<string, number>;
}

export interface Turned {
  /** When to look again; undefined if nothing is expected. */
  readonly next: number | undefined;
  /** The runs that are not over. */
  readonly running: readonly string[];
}

export async function triggerTurn(parts: TurnParts, found: FoundTrigger): Promise<Turned> {
  const { ledger, clock, inbox } = parts;
  const looked = await inbox?.look(clock.now());
  if (looked?.problem !== undefined) parts.log(`${title(found)}: ${looked.problem}`);
  const isBusy = looked?.isBusy === true;
  if (looked?.files.length === 0 && (await ledger.open(found.key)).length === 0)
    return { next: isBusy ? clock.now() + STABLE_MS : undefined, running: [] };
  return ledger.alone(found.key, async () => {
    if (!(await parts.isCurrent())) return { next: undefined, running: [] };
    await note(parts, found, looked?.files ?? []);
    const { running, waiting, isBeginning } = await sorted(parts, await ledger.open(found.key));
    const isStarted = isBeginning ? false : await begin(parts, found, running, waiting);
    const now = clock.now();
    const { trigger } = found;
    const times = [
      trigger.kind === 'schedule' ? nextTime(trigger, now) : undefined,
      isBusy ? now + STABLE_MS : undefined,
      // A killed run writes nothing.
      running.length > 0 || isStarted !== undefined ? now + LOOK_EVERY_MS : undefined,
      isStarted === false ? now + RETRY_MS : undefined,
    ].filter((time) => time !== undefined);
    const ids = running.map(({ run }) => run);
    return {
      next: times.length === 0 ? undefined : Math.min(...times),
      running: isStarted ? [...ids, isStarted] : ids,
    };
  });
}

const LOOK_EVERY_MS = 30_000;
const RETRY_MS = 5_000;
/** Occasions that wait for the run of an earlier one. */
const MOST_QUEUED = { schedule: 10, webhook: 1_000, files: 1_000 } as const;
const MOST_DEATHS = 3;

/** Records what is due. */
async function note(
  parts: TurnParts,
  found: FoundTrigger,
  files: readonly FoundFile[],
): Promise<void> {
  const { ledger, clock, log } = parts;
  const { key, trigger, workflowName } = found;
  const now = clock.now();
  const occasion = (cause: OccasionCause) => occasionOf(key, workflowName, cause, now);
  if (trigger.kind === 'schedule') {
    const { times, skipped } = dueTimes(trigger, await lastTime(parts, found, now), now);
    // The skipped ones are older. If this is cut short, the next turn continues after them.
    if (skipped) {
      const { time, why } = skipped;
      const outcome = { kind: 'skipped', at: now, why, times: skipped.times } as const;
      if (
        (await ledger.record(occasion({ kind: 'schedule', time }), undefined, outcome)) ===
        'recorded'
      )
        log(
          `${title(found)}: skipped ${skipped.times === 1 ? 'a time' : `${skipped.times} times`}: ${why}`,
        );
    }
    for (const time of times) await ledger.record(occasion({ kind: 'schedule', time }));
  }
  if (files.length === 0) return;
  const taken = new Set(
    (await ledger.open(key)).map(({ occasion: { cause } }) => cause.kind === 'files' && cause.path),
  );
  for (const { cause, problem } of files) {
    // A file that changes while it waits, or while its run works on it, is still the same occasion.
    if (taken.has(cause.path)) continue;
    const outcome: OccasionOutcome =
      problem === undefined ? { kind: 'due' } : { kind: 'refused', at: now, why: problem };
    const recorded = await ledger.record(occasion(cause), undefined, outcome);
    if (recorded === 'recorded' && problem !== undefined)
      log(`${title(found)}: refused ${cause.path}: ${problem}`);
  }
}

/**
 * The newest time with a record. After a clock was set back, times in the future do not count: they come again,
 * but their occasions are known.
 */
async function lastTime({ ledger }: TurnParts, { key }: FoundTrigger, now: number) {
  const since = await ledger.keptSince(key, now);
  const times = (await ledger.newest(key, MOST_LOOKED_AT)).flatMap(({ occasion: { cause } }) =>
    cause.kind === 'schedule' ? cause.time : [],
  );
  const past = times.filter((time) => time <= now);
  if (past.length > 0) return Math.max(...past);
  return times.length > 0 ? now - ON_TIME_MS : Math.min(since, now);
}

const MOST_LOOKED_AT = 100;

interface Sorted {
  readonly running: readonly Occasion[];
  /** Without a run, oldest first. */
  readonly waiting: readonly Occasion[];
  /** Only time tells what becomes of one of the runs. */
  readonly isBeginning: boolean;
}

/** Compares the ledger with the runs, and corrects it where a process was killed in between. */
async function sorted(parts: TurnParts, open: readonly OccasionRecord[]): Promise<Sorted> {
  const running: Occasion[] = [];
  const waiting: Occasion[] = [];
  let isBeginning = false;
  for (const { occasion, outcome } of open) {
    const standing = await parts.runs.standing(occasion.run);
    if (standing === 'beginning') {
      isBeginning = true;
      continue;
    }
    if (outcome.kind === 'due' && standing === 'none') {
      waiting.push(occasion);
      continue;
    }
    if (outcome.kind === 'due') await settle(parts, occasion, 'started');
    if (standing === 'crashed') await parts.runs.resume(occasion.run);
    if (standing === 'live' || standing === 'crashed') running.push(occasion);
    else await end(parts, occasion, standing === 'completed' ? 'completed' : 'failed');
  }
  return { running, waiting, isBeginning };
}

/** Starts what may start. Returns its run, or false if the start has to be tried again. */
async function begin(
  parts: TurnParts,
  found: FoundTrigger,
  running: readonly Occasion[],
  waiting: readonly Occasion[],
): Promise<string | false | undefined> {
  const { trigger } = found;
  const skip = (occasion: Occasion, why: string) => skipped(parts, found, occasion, why);
  const most = MOST_QUEUED[trigger.kind];
  switch (trigger.overlap) {
    case 'skip': {
      let current = running[0]?.run;
      let started: string | false | undefined;
      for (const occasion of waiting) {
        const { cause, at } = occasion;
        if (current === undefined) {
          started = await start(parts, found, occasion);
          current = started || undefined;
          // Those that were missed wait for each other, or only the first one would ever start.
        } else if (!(cause.kind === 'schedule' && isLate(cause.time, at)))
          await skip(occasion, `the run ${current} is not over`);
      }
      return started;
    }
    case 'queue': {
      for (const occasion of waiting.slice(most))
        await skip(occasion, `${most} occasions are waiting already`);
      const [first] = waiting;
      return first && running.length === 0 ? start(parts, found, first) : undefined;
    }
    case 'replace': {
      const newest = waiting.at(-1);
      if (!newest) return undefined;
      for (const occasion of waiting.slice(0, -1)) await skip(occasion, 'a later one replaced it');
      for (const occasion of running) await replace(parts, occasion);
      return start(parts, found, newest);
    }
  }
}

async function replace(parts: TurnParts, occasion: Occasion): Promise<void> {
  await parts.runs.stop(occasion.run);
  parts.log(`Stopped ${occasion.run}, because a later occasion replaces it`);
  await end(parts, occasion, 'failed');
}

async function start(
  parts: TurnParts,
  found: FoundTrigger,
  occasion: Occasion,
): Promise<string | false | undefined> {
  const { clock, ledger, runs, log, died } = parts;
  const { cause, run } = occasion;
  const input = cause.kind === 'files' ? cause.path : await ledger.payload(occasion);
  try {
    await runs.start(found, occasion, input);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    // Its process may have outlived the one that started it.
    const standing = await runs.standing(run);
    if (standing === 'beginning' || (standing === 'none' && error.code === 'run-locked'))
      return false;
    if (standing === 'none') {
      const deaths = (died.get(run) ?? 0) + 1;
      died.set(run, deaths);
      if (error.code === 'process-died' && deaths < MOST_DEATHS) {
        log(`${title(found)}: ${error.message} It will be tried again.`);
        return false;
      }
      log(`${title(found)}: refused: ${error.message}`);
      await putFileAway(parts, occasion, 'failed');
      await ledger.settle(occasion, { kind: 'refused', at: clock.now(), why: error.message });
      return undefined;
    }
  }
  await settle(parts, occasion, 'started');
  log(`${title(found)}: started ${run} (${startedByText(startedByOf(occasion))})`);
  return run;
}

async function end(parts: TurnParts, occasion: Occasion, how: 'completed' | 'failed') {
  const { ledger, clock, log } = parts;
  await putFileAway(parts, occasion, how === 'completed' ? 'done' : 'failed');
  await ledger.settle(occasion, { kind: 'over', at: clock.now(), how });
  log(`${occasion.run} is over: ${how}`);
}

async function skipped(parts: TurnParts, found: FoundTrigger, occasion: Occasion, why: string) {
  const { ledger, clock, log } = parts;
  await putFileAway(parts, occasion, 'failed');
  await ledger.settle(occasion, { kind: 'skipped', at: clock.now(), why });
  log(`${title(found)}: skipped ${startedByText(startedByOf(occasion))}: ${why}`);
}

async function putFileAway(
  { project, log }: TurnParts,
  { cause }: Occasion,
  to: 'done' | 'failed',
) {
  if (cause.kind !== 'files') return;
  await putAway(project, cause, to).catch((error) =>
    log(`Cannot move ${cause.path} to ${to}/: ${String(error)}`),
  );
}

async function settle({ ledger, clock }: TurnParts, occasion: Occasion, kind: 'started') {
  await ledger.settle(occasion, { kind, at: clock.now() });
}

const title = ({ path, key }: FoundTrigger) => `${path} (${key.name})`;
