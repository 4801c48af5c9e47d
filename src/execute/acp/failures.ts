/** Names the kind of a failure. Except for the login, the words of an agent are the only clue. */
import type { Failure, FailureKind } from '../../model/failure.ts';
import { readReset } from '../agents/reset-time.ts';
import type { RpcError } from './protocol.ts';

export interface FailingAgent {
  readonly name: string;
  /** How a user logs in, in the words of the agent. */
  readonly logins: readonly string[];
}

/** `fallback` is the kind of an error that gives no clue. */
export function failureOf(
  agent: FailingAgent,
  { code, message }: RpcError,
  now: number,
  fallback: FailureKind = 'refused',
): Failure {
  const said = `${agent.name} says: ${message}`;
  if (code === AUTH_REQUIRED) return notLoggedIn(agent, said);
  const kind = CLUES.find(([, pattern]) => pattern.test(message))?.[0] ?? fallback;
  if (kind === 'not-logged-in') return notLoggedIn(agent, said);
  if (kind === 'session-gone')
    return { kind, message: `${said} Resume with --fresh to begin the state in a new session.` };
  const resetsAt = kind === 'usage-limit' ? readReset(message, now) : undefined;
  return { kind, message: said, ...(resetsAt !== undefined && { resetsAt }) };
}

const AUTH_REQUIRED = -32000;

/** Agents retry by themselves, so what they report has lasted for a while. */
const CLUES: readonly (readonly [FailureKind, RegExp])[] = [
  ['usage-limit', /usage.?limit|rate limit.*reset|quota.*reset|limit will reset/i],
  ['no-credit', /quota exceeded|insufficient_quota|billing|credit balance|payment required/i],
  ['not-logged-in', /\b401\b|unauthori[sz]ed|unauthenticated|api.?key|log ?in|authenticat/i],
  ['unknown-model', /model .*(?:does not exist|not found|not supported|unknown)|unknown model/i],
  ['session-gone', /session .*(?:not found|does not exist)|no (?:previous|such) session/i],
  ['refused', /context (?:window|length)|invalid_request|content policy|prompt is too long/i],
  ['overloaded', /\b429\b|rate.?limit|high demand|overloaded|at capacity|\b5\d\d\b/i],
  ['connection-lost', /econn|network|connection|socket|timed? ?out|fetch failed|unreachable/i],
];

function notLoggedIn({ logins }: FailingAgent, said: string): Failure {
  const ways = logins.length > 0 ? ` (${logins.join('; ').slice(0, 300)})` : '';
  return { kind: 'not-logged-in', message: `${said} Log in with the agent itself${ways}.` };
}
