/** INV-7: Every kind of failure has one answer, and only this file gives it. */
import type { LaneReason } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import { unreachable } from '../model/unreachable.ts';
import type { OtherLanes } from './lanes.ts';

export type Recovery =
  | { readonly kind: 'retry'; readonly until: number }
  /** Until the usage limit ends. Every prompt of the same executor also waits. */
  | { readonly kind: 'wait'; readonly until: number }
  /** Another lane takes the prompt. This one takes no new sessions until then. */
  | { readonly kind: 'next-lane'; readonly why: LaneReason; readonly until: number }
  | { readonly kind: 'fail' };

/** The only place that decides what follows from a failure of a step. */
export function recover(
  failure: Failure,
  tries: {
    readonly retries: number;
    readonly isScript: boolean;
    readonly at: number;
    readonly pausesMs?: readonly number[] | undefined;
    /** Only for a fresh session in one of several lanes. */
    readonly others?: OtherLanes | undefined;
  },
): Recovery {
  if (tries.isScript && failure.kind !== 'not-begun') return recoverScript(failure, tries);
  switch (failure.kind) {
    case 'crashed':
    case 'connection-lost':
    case 'idle':
    case 'not-begun':
      return retry(tries) ?? { kind: 'fail' };
    case 'overloaded':
      return retry(tries) ?? leaveLane(failure.kind, tries);
    case 'not-logged-in':
      return leaveLane(failure.kind, tries);
    case 'usage-limit':
      return { kind: 'wait', until: limitEnd(failure.resetsAt, tries.at) };
    case 'no-credit':
    case 'unknown-model':
    case 'refused':
    case 'blocked':
    case 'session-gone':
    case 'no-executable':
    case 'no-transition':
    case 'several-transitions':
    case 'bad-transition':
    case 'forbidden-transition':
    case 'unmet-check':
    case 'missing-state':
    case 'ambiguous-state':
    case 'broken-state':
    case 'bad-directory':
    case 'bad-workflow':
    case 'bad-worktree':
    case 'too-many-visits':
    case 'too-many-forks':
    case 'too-many-agents':
    case 'too-deep':
    case 'script-failed':
    case 'join-failed':
    case 'changed-script':
    case 'lost':
      return { kind: 'fail' };
    default:
      return unreachable(failure.kind);
  }
}

function retry({
  retries,
  at,
  pausesMs = RETRY_PAUSES_MS,
}: {
  readonly retries: number;
  readonly at: number;
  readonly pausesMs?: readonly number[] | undefined;
}): Recovery | undefined {
  const pause = pausesMs[retries];
  return pause === undefined ? undefined : { kind: 'retry', until: at + pause };
}

/** If all other lanes have reached their usage limits, the agent tries again when one of them may be free. */
function leaveLane(
  why: LaneReason,
  { at, others }: { readonly at: number; readonly others?: OtherLanes | undefined },
): Recovery {
  const until = at + UNKNOWN_WAIT;
  if (others?.next !== undefined) return { kind: 'next-lane', why, until };
  if (others?.limitedUntil === undefined) return { kind: 'fail' };
  return { kind: 'retry', until: Math.min(until, others.limitedUntil) };
}

/**
 * A script that has begun may have had its effect, and a second execution may do harm. One retry lets a run
 * survive a crash of the machine. After that, the user must look.
 */
function recoverScript(
  { kind }: Failure,
  { retries, at }: { readonly retries: number; readonly at: number },
): Recovery {
  return kind === 'lost' && retries === 0 ? { kind: 'retry', until: at } : { kind: 'fail' };
}

/** The pause before each retry. The number of pauses is the number of retries. */
const RETRY_PAUSES_MS = [1_000, 4_000, 16_000];

const MINUTE = 60_000;
const LONGEST_WAIT = 24 * 60 * MINUTE;
/** Used if the agent does not report the end of its limit, and for a lane that is overloaded or not logged in. */
const UNKNOWN_WAIT = 15 * MINUTE;

/** It is better to wait a minute too long: a turn that reaches the limit again is lost. */
function limitEnd(resetsAt: number | undefined, at: number): number {
  if (resetsAt === undefined) return at + UNKNOWN_WAIT;
  return Math.min(Math.max(Math.ceil(resetsAt), at) + MINUTE, at + LONGEST_WAIT);
}
