import type { Failure } from '../../model/failure.ts';
import { BEGIN_AFRESH, kindOf, resetIn } from '../agents/failure-clues.ts';

export function failureOf(message: string, now: number): Failure {
  const kind = kindOf(message);
  if (kind === 'usage-limit') return { kind, message, ...resetIn(message, now) };
  const remedy = REMEDIES[kind];
  return { kind, message: remedy === undefined ? message : `${message.trim()} ${remedy}` };
}

const REMEDIES: Readonly<Partial<Record<Failure['kind'], string>>> = {
  'not-logged-in': 'Log in with "codex login", or set OPENAI_API_KEY.',
  'session-gone': BEGIN_AFRESH,
};
