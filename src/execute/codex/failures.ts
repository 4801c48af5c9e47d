/** Names the kind of a failure of codex. Its messages are the only clue. */
import type { Failure } from '../../model/failure.ts';
import { readReset } from '../agents/reset-time.ts';

export function failureOf(message: string, now: number): Failure {
  if (/usage limit/i.test(message)) {
    const resetsAt = readReset(message, now);
    return { kind: 'usage-limit', message, ...(resetsAt !== undefined && { resetsAt }) };
  }
  const kind = CLUES.find(([, pattern]) => pattern.test(message))?.[0] ?? 'refused';
  const remedy = REMEDIES[kind];
  return { kind, message: remedy === undefined ? message : `${message.trim()} ${remedy}` };
}

/** Codex retries by itself, so what it reports has lasted for a while. */
const CLUES: readonly (readonly [Failure['kind'], RegExp])[] = [
  ['no-credit', /quota exceeded|insufficient_quota|billing|purchase more credits/i],
  ['not-logged-in', /\b401\b|unauthorized|api key|log ?in|environment variable/i],
  ['unknown-model', /model .*(?:does not exist|not found|not supported)/i],
  ['session-gone', /no rollout found|thread .*not found|no such thread/i],
  ['refused', /context window|invalid_request|content policy|cyber/i],
  ['overloaded', /\b429\b|high demand|overloaded|at capacity|\b5\d\d\b/i],
  ['connection-lost', /stream disconnected|network|connection|timed? ?out|transport/i],
  ['crashed', /active writer|panicked|ended without/i],
];

const REMEDIES: Readonly<Partial<Record<Failure['kind'], string>>> = {
  'not-logged-in': 'Log in with "codex login", or set OPENAI_API_KEY.',
  'session-gone': 'Resume with --fresh to begin the state in a new session.',
};
