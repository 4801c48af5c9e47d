/**
 * A run that is only played: the real language and the real loop, with a journal in memory and a clock
 * that never makes anybody wait. Who answers prompts and runs scripts is the caller's choice.
 */
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import { JOURNAL_VERSION, type RunEvent, type RunEventOf, type Settings } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { Inbox } from '../run/inbox.ts';
import { runLoop } from '../run/loop.ts';
import { Steps, type StepsPorts } from '../run/steps.ts';
import { jumpingClock } from './jumping-clock.ts';

export type Beginning =
  | { readonly start: Omit<RunEventOf<'run-started'>, 'type' | 'version' | 'at'> }
  | {
      readonly resume: Run;
      readonly settings: Settings;
      readonly input: string | undefined;
    };

export interface PlayPorts extends Omit<StepsPorts, 'clock' | 'live'> {
  /** Answers to questions, in the order in which they are asked. */
  readonly replies: readonly string[];
  readonly inbox?: PlayInbox;
  /** Ends the play, and whatever it has started. */
  readonly stopped?: AbortSignal;
}

/** An inbox that also learns what was journaled, so that it can choose its moment. */
export interface PlayInbox extends Inbox<Input> {
  journaled(events: readonly RunEvent[], after: Run): void;
  /** Whether it will answer a question itself. */
  isAttended(): boolean;
}

export interface PlayedRun {
  readonly run: Run;
  readonly events: readonly RunEvent[];
}

/** Plays a run to its end. */
export async function playRun(beginning: Beginning, ports: PlayPorts): Promise<PlayedRun> {
  const clock = jumpingClock('resume' in beginning ? beginning.resume.updatedAt : undefined);
  const inbox = ports.inbox ?? new Inbox<Input>();
  const events: RunEvent[] = [];
  const begun = begin(beginning, clock.now(), inbox, events);
  const replies = [...ports.replies];

  const stop = () => inbox.put({ kind: 'stop', at: clock.now(), how: 'now' });
  ports.stopped?.addEventListener('abort', stop, { once: true });
  const run = await runLoop(begun, inbox, {
    journal: {
      append: async (more, after) => {
        events.push(...more);
        ports.inbox?.journaled(more, after);
      },
    },
    clock,
    observer: {
      event: (event) => {
        if (event.type !== 'agent-asked') return;
        const text = replies.shift();
        if (text === undefined) return;
        const { agent, at: askedAt } = event;
        inbox.put({ kind: 'person-answered', at: clock.now(), agent, askedAt, text });
      },
      live: () => {},
    },
    steps: new Steps(inbox, { ...ports, clock, live: () => {} }),
    newId: counter('resume' in beginning ? 'r' : 's'),
    attended: () => replies.length > 0 || ports.inbox?.isAttended() === true,
    patient: true,
  });
  ports.stopped?.removeEventListener('abort', stop);
  return { run, events };
}

function begin(beginning: Beginning, at: number, inbox: Inbox<Input>, events: RunEvent[]): Run {
  if ('resume' in beginning) {
    const { resume, settings, input } = beginning;
    inbox.put({ kind: 'resume', at, settings, input });
    return resume;
  }
  const started: RunEvent = {
    type: 'run-started',
    version: JOURNAL_VERSION,
    at,
    ...beginning.start,
  };
  events.push(started);
  return apply(newRun, started);
}

function counter(prefix: string): () => string {
  let n = 0;
  return () => `${prefix}${++n}`;
}
