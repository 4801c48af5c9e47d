/** Names the kind of a failure by the words of an agent, which are often the only clue. */
import type { Failure, FailureKind } from '../../model/failure.ts';
import { readReset } from './reset-time.ts';

/** `fallback` is the kind of a message that gives no clue. */
export function kindOf(message: string, fallback: FailureKind = 'refused'): FailureKind {
  return CLUES.find(([, pattern]) => pattern.test(message))?.[0] ?? fallback;
}

/** Agents retry by themselves, so what they report has lasted for a while. */
const CLUES: readonly (readonly [FailureKind, RegExp])[] = [
  ['usage-limit', /usage.?limit|rate limit.*reset|quota.*reset|limit will reset/i],
  ['no-credit', /quota exceeded|insufficient_quota|billing|credit balance|payment required/i],
  ['no-credit', /purchase more credits/i],
  ['not-logged-in', /\b401\b|unauthori[sz]ed|unauthenticated|api.?key|log ?in|authenticat/i],
  ['not-logged-in', /environment variable/i],
  ['unknown-model', /model .*(?:does not exist|not found|not supported|unknown)|unknown model/i],
  ['session-gone', /session .*(?:not found|does not exist)|no (?:previous|such) session/i],
  ['session-gone', /no rollout found|thread .*not found|no such thread/i],
  ['refused', /context (?:window|length)|invalid_request|content policy|prompt is too long|cyber/i],
  ['overloaded', /\b429\b|rate.?limit|high demand|overloaded|at capacity|\b5\d\d\b/i],
  ['connection-lost', /econn|network|connection|socket|timed? ?out|fetch failed|unreachable/i],
  ['connection-lost', /stream disconnected|transport/i],
  ['crashed', /active writer|panicked|ended without/i],
];

/** When a usage limit ends, if the message says it. */
export function resetIn(message: string, now: number): Pick<Failure, 'resetsAt'> {
  const resetsAt = readReset(message, now);
  return resetsAt === undefined ? {} : { resetsAt };
}

export const BEGIN_AFRESH = 'Resume with --fresh to begin the state in a new session.';
