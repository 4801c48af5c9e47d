/** INV-7: Every kind of failure has one answer, and only this file gives it. */
import type { Failure } from '../model/failure.ts';
import { unreachable } from '../model/unreachable.ts';

export type Recovery =
  | { readonly kind: 'retry'; readonly until: number }
  /** Until the usage limit ends. Every prompt of the same executor also waits. */
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'fail' };

/** The only place that decides what follows from a failure of a step. */
export function recover(
  failure: Failure,
  tries: {
    readonly retries: number;
    readonly isScript: boolean;
    readonly at: number;
    readonly pausesMs?: readonly number[] | undefined;
  },
): Recovery {
  if (tries.isScript && failure.kind !== 'not-begun') return recoverScript(failure, tries);
  switch (failure.kind) {
    case 'crashed':
    case 'overloaded':
    case 'connection-lost':
    case 'idle':
    case 'not-begun': {
      const pause = (tries.pausesMs ?? RETRY_PAUSES_MS)[tries.retries];
      return pause === undefined ? { kind: 'fail' } : { kind: 'retry', until: tries.at + pause };
    }
    case 'usage-limit':
      return { kind: 'wait', until: limitEnd(failure.resetsAt, tries.at) };
    case 'not-logged-in':
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
/** Used if the agent does not report the end of its limit. */
const UNKNOWN_WAIT = 15 * MINUTE;

/** It is better to wait a minute too long: a turn that reaches the limit again is lost. */
function limitEnd(resetsAt: number | undefined, at: number): number {
  if (resetsAt === undefined) return at + UNKNOWN_WAIT;
  return Math.min(Math.max(Math.ceil(resetsAt), at) + MINUTE, at + LONGEST_WAIT);
}
