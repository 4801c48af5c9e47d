import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Prices } from '../../model/configured-agent.ts';
import type { Failure } from '../../model/failure.ts';
import { type Account, NO_COST } from '../../model/step-account.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { PromptStep, StepOutcome } from '../../ports.ts';
import { answerRef } from '../answer-ref.ts';
import { writeAnswer, writeRawLocation } from '../step-folder.ts';
import { hasPrice, priced, tokensSince, usageOf } from '../token-price.ts';
import { failureOf } from './failures.ts';
import type { FollowedTurn } from './follow-turn.ts';
import type { Threads } from './threads.ts';
import type { TurnFile } from './turn-file.ts';

interface Memory {
  readonly threads: Threads;
  readonly prices?: Prices;
  /** Gets the name of a model without a known price. */
  readonly unpriced?: (model: string) => void;
}

/** Turns the outcome of a turn into that of its step, and keeps notes about its thread. */
export function settle(
  memory: Memory,
  step: PromptStep,
  turn: TurnFile,
  followed: FollowedTurn,
  how: 'ours' | 'stopped' | 'adopted',
): StepOutcome {
  const { end, text, silent, exit, thread, bytes } = followed;
  const account = accountOf(memory, step, turn, followed);
  if (bytes > 0)
    writeRawLocation(step.folder, {
      file: join(turn.process, STEP_FILES.stdout.name),
      from: 0,
      to: bytes,
    });
  if (end?.kind === 'completed' && text !== undefined) {
    writeAnswer(step.folder, text);
    return { kind: 'answered', output: text, answer: answerRef(text), denied: [], account };
  }
  const failed = (failure: Failure): StepOutcome => ({ kind: 'failed', failure, account });
  if (silent) {
    const message = `${step.state} was silent for ${step.idleTimeoutMs / 1000} s and was stopped.`;
    return failed({ kind: 'idle', message });
  }
  if (how === 'stopped' || (how === 'adopted' && !end && exit?.kind !== 'exited'))
    return { kind: 'interrupted', sessionUsable: isUsable(thread, followed), account };
  if (exit?.kind === 'unstarted') {
    const kind = existsSync(step.cwd) ? 'no-executable' : 'bad-directory';
    return failed({ kind, message: exit.reason });
  }
  if (end?.kind === 'failed') return failed(failureOf(end.message, Date.now()));
  if (end) return failed({ kind: 'blocked', message: 'The model did not answer.' });
  return failed(withoutEnd(followed));
}

function isUsable(thread: string | undefined, { hasPrompt }: FollowedTurn): boolean {
  return thread !== undefined && hasPrompt;
}

function withoutEnd({ complaint, exit }: FollowedTurn): Failure {
  const code = exit?.kind === 'exited' ? `exit code ${exit.code}` : 'its exit code is unknown';
  // A stack trace follows the reason.
  const [why = ''] = complaint.trim().split(/\n\s*\n/, 1);
  const known = failureOf(why, Date.now());
  const message = `Codex ended without a result (${code}). ${why}`.trim();
  return known.kind === 'session-gone' ? known : { ...known, kind: kindOf(known), message };
}

/** Whatever is not recognised is a crash, so that it is tried again. */
function kindOf({ kind }: Failure): Failure['kind'] {
  return kind === 'refused' ? 'crashed' : kind;
}

function accountOf(
  { threads, prices, unpriced }: Memory,
  { session }: PromptStep,
  { model, before }: TurnFile,
  { thread, totals: told }: FollowedTurn,
): Account {
  if (thread === undefined) return { cost: NO_COST };
  const record = threads.recorded(thread);
  const totals = told ?? record.totals;
  const note = { thread, ...(totals && { totals }) };
  threads.write(thread, note);
  threads.write(session.id, note);
  const spent = totals && tokensSince(before, totals);
  const used = record.model ?? model;
  if (spent && used !== undefined && !hasPrice(used, prices)) unpriced?.(used);
  return {
    cost: spent ? priced(spent, used, prices) : NO_COST,
    ...(spent && { usage: usageOf(spent) }),
    session: { id: thread },
  };
}
