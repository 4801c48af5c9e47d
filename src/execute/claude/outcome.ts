// Decides the outcome of a turn. Exit codes are not reliable, so a result event decides if there is
// one. Exit code and standard error only explain why there is none.
import type { Failure, FailureKind } from '../../model/failure.ts';
import type { Cost, Usage } from '../../model/step-account.ts';
import type { Denial, Happening, Result } from './messages.ts';
import { turnMeter } from './price.ts';
import { readUsageLimit } from './usage-limit.ts';

export type TurnOutcome = {
  readonly cost: Cost;
  readonly usage: Usage | undefined;
  readonly model: string | undefined;
  /** The size of the session after the newest message of the model. */
  readonly contextTokens?: number;
} & (
  | { readonly kind: 'answered'; readonly text: string; readonly denied: readonly Denial[] }
  | { readonly kind: 'failed'; readonly failure: TurnFailure }
);

type TurnFailure = Failure | { readonly kind: 'budget-spent'; readonly message: string };

interface TurnRecord {
  add(happening: Happening): void;
  readonly isOver: boolean;
  /** What the turn has cost so far, as an estimate. */
  spentUsd(): number;
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

/** Collects the parts of a turn's happenings that its outcome depends on. */
export function turnRecord(): TurnRecord {
  const meter = turnMeter();
  let result: Result | undefined;
  let message: Message | undefined;
  let newest = '';
  let apiError: string | undefined;
  let resetsAt: number | undefined;
  const calls = new Map<string, Denial>();
  const refused: Denial[] = [];

  return {
    add(happening) {
      switch (happening.kind) {
        case 'result':
          // Background tasks may cause a second result; the last one counts.
          result = happening;
          return;
        case 'message': {
          const { id, isSynthetic } = happening;
          if (!isSynthetic) newest = id;
          if (message?.id !== id || message.isOver) {
            message = { id, isSynthetic, isOver: false, texts: [] };
          }
          return;
        }
        case 'input':
          if (message) message.isOver = true;
          return;
        case 'text':
          message?.texts.push(happening.text);
          return;
        case 'tool-use':
          {
            const { call, name: tool, summary } = happening;
            calls.set(call, { call, tool, summary });
          }
          return;
        case 'tool-results':
          for (const call of happening.refused) refused.push(...known(calls.get(call)));
          for (const call of happening.calls) calls.delete(call);
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
        case 'spent-output':
          meter.addOutput(happening.tokens);
          return;
        case 'written':
          meter.addWritten(happening.characters);
          return;
      }
    },
    get isOver() {
      return result !== undefined;
    },
    spentUsd: meter.estimateUsd,
    outcome(end) {
      const reported: Cost = { usd: newCost(result?.costUsd ?? 0, end.countedUsd), from: 'told' };
      const used = { usage: meter.usage(), model: meter.model() };
      const contextTokens = meter.sizeOf(newest);
      const size = contextTokens ? { contextTokens } : {};
      if (result !== undefined && isFinished(result) && isOfModel(message, result)) {
        const text = message.texts.join('\n');
        const denied = allDenials(result.denials, refused);
        return { kind: 'answered', text, cost: reported, ...used, ...size, denied };
      }
      const failure =
        result === undefined ? noResult(end) : failed({ result, apiError, resetsAt, now: end.now });
      const estimateUsd = isCutShort(result) ? meter.estimateUsd() : 0;
      const cost: Cost =
        estimateUsd > reported.usd ? { usd: estimateUsd, from: 'estimated' } : reported;
      return { kind: 'failed', failure, cost, ...used, ...size };
    },
  };
}

const known = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value]);

function allDenials(told: readonly Denial[], refused: readonly Denial[]): readonly Denial[] {
  const isNew = ({ call }: Denial) => !told.some((one) => one.call === call);
  return [...told, ...refused.filter(isNew)];
}

/** A total below the counted amount has restarted at zero. The tolerance covers rounding errors. */
function newCost(totalUsd: number, countedUsd: number): number {
  return totalUsd < countedUsd - 0.000_001 ? totalUsd : Math.max(0, totalUsd - countedUsd);
}

/** The newest message of the turn; each of its blocks arrives as a separate event. */
interface Message {
  readonly id: string;
  readonly isSynthetic: boolean;
  /** The model got a reply to this message, so the next text belongs to another message. */
  isOver: boolean;
  readonly texts: string[];
}

function isFinished(result: Result): boolean {
  if (!result.isError && !result.subtype.startsWith('error')) return true;
  // The last call exceeded the budget, but it also finished the answer, which is paid for.
  return isBudgetSpent(result) && result.stopReason === 'end_turn';
}

/**
 * The text of a result may not come from the model: when a hook blocks a prompt, the text quotes the
 * prompt with its tags. So only the model's last message is an answer.
 */
function isOfModel(message: Message | undefined, { stopReason }: Result): message is Message {
  // A model that called a tool has not finished, even if a hook stopped the turn there.
  return message !== undefined && !message.isSynthetic && stopReason !== 'tool_use';
}

function isBudgetSpent(result: Result): boolean {
  return result.subtype === 'error_max_budget_usd';
}

/** True if the total is missing, or does not include the call that was running. */
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
  if (isFinished(result) && apiError === undefined) {
    return { kind: 'blocked', message: blockedText(message) };
  }
  if (isBudgetSpent(result)) return { kind: 'budget-spent', message };

  const limit = readUsageLimit(message, now);
  const resets = resetsAt ?? limit?.resetsAt;
  if (limit !== undefined || (result.status === 429 && resetsAt !== undefined)) {
    // Waiting does not help against a monthly spending limit without a date: a person must raise it.
    if (resets === undefined && /spend limit/i.test(message)) return { kind: 'no-credit', message };
    return { kind: 'usage-limit', message, ...(resets !== undefined && { resetsAt: resets }) };
  }
  const kind = kindOf(result, apiError, message);
  return { kind, message: withRemedy(kind, message) };
}

function kindOf(result: Result, apiError: string | undefined, message: string): FailureKind {
  const { status, stopReason } = result;
  if (stopReason === 'refusal') return 'refused';
  const clue = clues.find(([, pattern]) => pattern.test(message));
  const code = codes[result.apiError ?? ''] ?? codes[apiError ?? ''];
  const known = clue?.[0] ?? code;
  if (known !== undefined) return known;
  if (status === undefined) {
    return isOfConnection.test(`${apiError} ${result.apiError} ${message}`)
      ? 'connection-lost'
      : 'crashed';
  }
  if (status === 401) return 'not-logged-in';
  if (status === 408) return 'connection-lost';
  return status === 429 || status >= 500 ? 'overloaded' : 'refused';
}

function errorText({ errors, subtype }: Result): string {
  const meant = errors.filter((error) => !error.startsWith('[ede_diagnostic]'));
  return meant.join('\n') || `The turn was interrupted (${subtype}).`;
}

/** Claude Code's own names for errors, where they say more than the status. */
const codes: Readonly<Record<string, FailureKind>> = {
  account_on_hold: 'refused',
  authentication_failed: 'not-logged-in',
  billing_error: 'no-credit',
  cloud_credential_error: 'not-logged-in',
  invalid_request: 'refused',
  max_output_tokens: 'refused',
  model_not_found: 'unknown-model',
  oauth_org_not_allowed: 'not-logged-in',
  verification_required: 'refused',
};

const TOO_LONG = /prompt is too long|context limit reached/i;
const SHORTEN =
  'The conversation has outgrown the model. Shorten it with <compact>, with context: { max: … } in the workflow, or with DISABLE_AUTO_COMPACT=0, which lets Claude Code compact it. Resume with --fresh to begin the state in a new one.';

// Errors that only the text identifies, in any version.
const clues: readonly (readonly [FailureKind, RegExp])[] = [
  ['connection-lost', /temporary network/i],
  ['no-credit', /credit balance|out of (?:extra usage|usage credits)|spend limit/i],
  ['not-logged-in', /not logged in|\/login|invalid api key|invalid bearer token/i],
  ['unknown-model', /issue with the selected model/i],
  ['session-gone', /no conversation found|no message found/i],
  ['refused', TOO_LONG],
];

function withRemedy(kind: FailureKind, message: string): string {
  const remedy = TOO_LONG.test(message) ? SHORTEN : remedies[kind];
  if (remedy === undefined) return message;
  // Claude Code's own advice, "/login", works only inside an interactive session.
  const fact = message.replace(/ · Please run \/login|Please run \/login · /, '').trim();
  return `${fact.replace(/[^.]$/, '$&.')} ${remedy}`;
}

const remedies: Readonly<Partial<Record<FailureKind, string>>> = {
  'not-logged-in': 'Log in with "claude auth login", or set ANTHROPIC_API_KEY.',
  'session-gone':
    'Claude Code deletes old conversations. Resume with --fresh to begin the state in a new one.',
};

function blockedText(message: string): string {
  // The whole prompt may follow the reason.
  const [reason = ''] = message.split(/\s+Original prompt: /, 1);
  const why = reason.trim().slice(0, 1000) || 'A hook stopped the turn.';
  return `Claude Code did not let the model answer. ${why} Check its hooks and settings.`;
}

const isOfConnection =
  /connect|network|socket|timed? ?out|stall|stream|malformed response|\bE(?:CONN|PIPE|HOST|NET|AI_)/i;

function noResult({ exit, stderrTail }: TurnEnd): TurnFailure {
  const lastLines = stderrTail.trim().split('\n').slice(-5).join('\n').slice(-1000);
  const kind = /^error: |is already in use|cannot be used with root/im.test(lastLines)
    ? 'refused'
    : 'crashed';
  const message = `Claude Code ended without a result (${ending(exit)}). ${lastLines}`.trim();
  return { kind, message };
}

function ending(exit: TurnEnd['exit']): string {
  if (exit === undefined) return 'its exit code is unknown';
  return exit.signal === null ? `exit code ${exit.code}` : exit.signal;
}
