/**
 * A simulated run: the real language and the real loop, with a journal in memory and a clock that
 * never waits. The caller chooses who answers prompts and runs scripts.
 */
import { type Carrying, carryRun } from '../host/carry-run.ts';
import { scriptedPerson } from '../host/scripted-person.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import { JOURNAL_VERSION, type RunEvent, type RunEventOf, type Settings } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import type { StopSource } from '../ports.ts';
import type { Inbox } from '../run/inbox.ts';
import { type JumpingClock, jumpingClock } from './jumping-clock.ts';

export type Beginning =
  | { readonly start: Omit<RunEventOf<'run-started'>, 'type' | 'version' | 'at'> }
  | {
      readonly resume: Run;
      readonly settings: Settings;
      readonly input: string | undefined;
    };

interface PlayPorts
  extends Pick<Carrying, 'library' | 'executors' | 'ground' | 'folders' | 'worktrees'> {
  /** Answers to questions, in the order in which they are asked. */
  readonly replies: readonly string[];
  readonly inbox?: PlayInbox;
  /** Gets the events before anything follows from them. */
  readonly journaled?: (events: readonly RunEvent[], after: Run) => void;
  /** Given if the steps take time on it. */
  readonly clock?: JumpingClock;
  /** Ends the simulated run and all its steps. */
  readonly stopped?: AbortSignal;
}

/** An inbox that also receives the journaled events, so that it can choose when to deliver an input. */
export interface PlayInbox extends Inbox<Input> {
  journaled(events: readonly RunEvent[], after: Run): void;
  /** Whether it will answer a question itself. */
  isAttended(): boolean;
}

interface PlayedRun {
  readonly run: Run;
  readonly events: readonly RunEvent[];
}

export async function playRun(beginning: Beginning, ports: PlayPorts): Promise<PlayedRun> {
  const start = 'resume' in beginning ? beginning.resume.updatedAt : undefined;
  const clock = ports.clock ?? jumpingClock(start);
  const events: RunEvent[] = [];
  const { run, first } = begin(beginning, clock.now(), events);
  const person = scriptedPerson(ports.replies);
  const carried = await carryRun(run, first, {
    ...ports,
    clock,
    journal: {
      append: async (more, after) => {
        events.push(...more);
        ports.journaled?.(more, after);
        // A recording has its own order, including that of the times.
        if (ports.inbox) ports.inbox.journaled(more, after);
        else clock.follow(after);
      },
    },
    newId: counter('resume' in beginning ? 'r' : 's'),
    observers: [],
    observerFailed: (_name, error) => {
      throw error;
    },
    person: {
      ...person,
      isPresent: () => person.isPresent() || ports.inbox?.isAttended() === true,
    },
    ...(ports.stopped && { stops: whenAborted(ports.stopped) }),
  });
  // No other process knows of the run, so no other process can take it.
  if (carried.kind === 'lost') throw carried.loss;
  return { run: carried.run, events };
}

function whenAborted(stopped: AbortSignal): StopSource {
  return (stop) => {
    const abort = () => stop('now');
    stopped.addEventListener('abort', abort, { once: true });
    return () => stopped.removeEventListener('abort', abort);
  };
}

function begin(
  beginning: Beginning,
  at: number,
  events: RunEvent[],
): { readonly run: Run; readonly first: readonly Input[] } {
  if ('resume' in beginning) {
    const { resume, settings, input } = beginning;
    return { run: resume, first: [{ kind: 'resume', at, settings, input }] };
  }
  const started: RunEvent = {
    type: 'run-started',
    version: JOURNAL_VERSION,
    at,
    ...beginning.start,
  };
  events.push(started);
  return { run: apply(newRun, started), first: [] };
}

function counter(prefix: string): () => string {
  let n = 0;
  return () => `${prefix}${++n}`;
}
