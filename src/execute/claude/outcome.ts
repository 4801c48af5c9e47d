// What a turn came to. Exit codes lie, so a result event decides where there is one; exit and
// standard error only explain why there is none.
import type { Denial, Happening, Result } from './messages.ts';
import { turnMeter } from './price.ts';
import { readUsageLimit } from './usage-limit.ts';

export type TurnOutcome =
  | {
      readonly kind: 'answered';
      readonly text: string;
      readonly costUsd: number;
      readonly denied: readonly Denial[];
    }
  | { readonly kind: 'failed'; readonly failure: TurnFailure; readonly costUsd: number };

export type TurnFailure =
  | { readonly kind: 'usage-limit'; readonly message: string; readonly resetsAt?: number }
  | { readonly kind: FailureKind; readonly message: string };

type FailureKind =
  | 'crashed'
  | 'overloaded'
  | 'connection-lost'
  | 'not-logged-in'
  | 'no-credit'
  | 'unknown-model'
  | 'budget-spent'
  /** Asking again in the same way cannot help. */
  | 'refused';

export interface TurnRecord {
  add(happening: Happening): void;
  readonly isOver: boolean;
  outcome(end: TurnEnd): TurnOutcome;
}

export interface TurnEnd {
  readonly now: number;
  /** See `alreadyCounted`. */
  readonly countedUsd: number;
  /** Unknown for a process that was adopted. */
  readonly exit?: { readonly code: number | null; readonly signal: string | null };
  readonly stderrTail: string;
}

/** Keeps of a turn's happenings what its outcome depends on. */
export function turnRecord(): TurnRecord {
  const meter = turnMeter();
  let result: Result | undefined;
  let lastText = '';
  let apiError: string | undefined;
  let resetsAt: number | undefined;

  return {
    add(happening) {
      switch (happening.kind) {
        case 'result':
          // Background tasks may give a second one; the last one counts.
          result = happening;
          return;
        case 'text':
          lastText = happening.text;
          return;
        case 'api-error':
          apiError = happening.error;
          return;
        case 'rate-limit':
          resetsAt = happening.rejected ? happening.resetsAt : undefined;
          return;
        case 'spent':
          meter.add(happening);
          return;
        case 'written':
          meter.addWritten(happening.characters);
          return;
      }
    },
    get isOver() {
      return result !== undefined;
    },
    outcome(end) {
      const costUsd = Math.max(0, (result?.costUsd ?? 0) - end.countedUsd);
      const text = result === undefined ? undefined : answer(result, lastText);
      if (result !== undefined && text !== undefined) {
        return { kind: 'answered', text, costUsd, denied: result.denials };
      }
      const failure =
        result === undefined ? noResult(end) : failed({ result, apiError, resetsAt, now: end.now });
      const estimateUsd = isCutShort(result) ? meter.estimateUsd() : 0;
      return { kind: 'failed', failure, costUsd: Math.max(costUsd, estimateUsd) };
    },
  };
}

function answer(result: Result, lastText: string): string | undefined {
  if (!result.isError && !result.subtype.startsWith('error')) return result.text ?? lastText;
  // The last call overspent, but it also finished the answer: it is paid for.
  if (isBudgetSpent(result) && result.stopReason === 'end_turn') return lastText;
  return undefined;
}

function isBudgetSpent(result: Result): boolean {
  return result.subtype === 'error_max_budget_usd';
}

/** Then the call that was running is missing from the total, or there is none. */
function isCutShort(result: Result | undefined): boolean {
  return result?.costUsd === undefined || result.subtype === 'error_during_execution';
}

interface FailedTurn {
  readonly result: Result;
  readonly apiError: string | undefined;
  readonly resetsAt: number | undefined;
  readonly now: number;
}

function failed({ result, apiError, resetsAt, now }: FailedTurn): TurnFailure {
  const message = result.text ?? errorText(result);
  if (isBudgetSpent(result)) return { kind: 'budget-spent', message };

  const limit = readUsageLimit(message, now);
  const resets = resetsAt ?? limit?.resetsAt;
  if (limit !== undefined || (result.status === 429 && resetsAt !== undefined)) {
    // A monthly spending limit without a date is lifted by a person, not by waiting.
    if (resets === undefined && /spend limit/i.test(message)) return { kind: 'no-credit', message };
    return { kind: 'usage-limit', message, ...(resets !== undefined && { resetsAt: resets }) };
  }
  const clue = `${apiError} ${result.apiError} ${message}`;
  const found = clues.find(([, pattern]) => pattern.test(clue));
  return { kind: found?.[0] ?? kindOfStatus(result.status, clue), message };
}

function errorText({ errors, subtype }: Result): string {
  const meant = errors.filter((error) => !error.startsWith('[ede_diagnostic]'));
  return meant.join('\n') || `The turn was interrupted (${subtype}).`;
}

// Both what the API said and what Claude Code makes of it, in any of its versions.
const clues: readonly (readonly [FailureKind, RegExp])[] = [
  ['no-credit', /billing_error|credit balance|out of (?:extra usage|usage credits)|spend limit/i],
  ['not-logged-in', /not logged in|\/login|invalid api key|invalid bearer token/i],
  ['unknown-model', /model_not_found|issue with the selected model/i],
  ['refused', /prompt is too long|no conversation found|no message found/i],
];

function kindOfStatus(status: number | undefined, clue: string): FailureKind {
  if (status === undefined) return isOfConnection.test(clue) ? 'connection-lost' : 'crashed';
  if (status === 401) return 'not-logged-in';
  if (status === 408) return 'connection-lost';
  return status === 429 || status >= 500 ? 'overloaded' : 'refused';
}

const isOfConnection =
  /connect|network|socket|timed? ?out|stall|stream|malformed response|\bE(?:CONN|PIPE|HOST|NET|AI_)/i;

function noResult({ exit, stderrTail }: TurnEnd): TurnFailure {
  const said = stderrTail.trim().split('\n').slice(-5).join('\n').slice(-1000);
  const kind = /^error: |is already in use|cannot be used with root/im.test(said)
    ? 'refused'
    : 'crashed';
  return { kind, message: `Claude Code ended without a result (${ending(exit)}). ${said}`.trim() };
}

function ending(exit: TurnEnd['exit']): string {
  if (exit === undefined) return 'its exit code is unknown';
  return exit.signal === null ? `exit code ${exit.code}` : exit.signal;
}
