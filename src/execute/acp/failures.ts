import type { Failure, FailureKind } from '../../model/failure.ts';
import { BEGIN_AFRESH, kindOf, resetIn } from '../agents/failure-clues.ts';
import type { RpcError } from './protocol.ts';

interface FailingAgent {
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
  const kind = kindOf(message, fallback);
  if (kind === 'not-logged-in') return notLoggedIn(agent, said);
  if (kind === 'session-gone') return { kind, message: `${said} ${BEGIN_AFRESH}` };
  return { kind, message: said, ...(kind === 'usage-limit' && resetIn(message, now)) };
}

const AUTH_REQUIRED = -32000;

function notLoggedIn({ logins }: FailingAgent, said: string): Failure {
  const ways = logins.length > 0 ? ` (${logins.join('; ').slice(0, 300)})` : '';
  return { kind: 'not-logged-in', message: `${said} Log in with the agent itself${ways}.` };
}
