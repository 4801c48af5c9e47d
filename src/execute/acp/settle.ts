/** Turns the end of a turn into the outcome of its step, and keeps notes about the session. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { StopReason } from '@agentclientprotocol/sdk/unstable';
import type { OwnFile } from '../../files/own-file.ts';
import type { Prices } from '../../model/configured-agent.ts';
import type { Failure } from '../../model/failure.ts';
import type { Account } from '../../model/step-account.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { PromptStep, StepOutcome } from '../../ports.ts';
import { answerRef } from '../answer-ref.ts';
import { tailIfReadable } from '../file-text.ts';
import { fields, text } from '../json.ts';
import { isSessionId } from '../kept-notes.ts';
import type { Exit } from '../process/index.ts';
import { writeAnswer, writeRawLocation } from '../step-folder.ts';
import type { Adapter } from './adapter.ts';
import { costOf } from './cost.ts';
import { failureOf } from './failures.ts';
import type { FollowedTurn } from './follow-turn.ts';
import type { SessionNotes } from './session-notes.ts';
import type { SentPrompt } from './turn-file.ts';

export interface Memory {
  readonly name: string;
  readonly notes: SessionNotes;
  readonly prices: Prices;
  readonly logins: readonly string[];
  readonly namesMessages?: true;
  readonly adapter?: Adapter;
  readonly countsLastRequest?: true;
}

export interface SettledTurn {
  readonly step: PromptStep;
  readonly prompt: SentPrompt;
  /** The folder of the process. */
  readonly process: string;
  readonly stderr: OwnFile;
  readonly followed: FollowedTurn;
  readonly how: 'ours' | 'stopped' | 'adopted';
}

export function settle(memory: Memory, turn: SettledTurn): StepOutcome {
  const { step, prompt, process, followed, how } = turn;
  const { end, record, exit, silent } = followed;
  const account = accountOf(memory, turn);
  writeRawLocation(step.folder, {
    file: join(process, STEP_FILES.stdout.name),
    from: prompt.offset,
    to: followed.offset,
  });
  const failed = (failure: Failure): StepOutcome => ({
    kind: 'failed',
    failure: { ...failure, message: `${failure.message}${denialsIn(followed)}` },
    account,
  });
  const reason = end.kind === 'result' ? text(fields(end.result).stopReason) : undefined;
  const { fault } = followed;
  if (reason === 'end_turn' && fault !== undefined && how !== 'stopped')
    return failed(failureOf(memory, { code: 0, message: fault }, Date.now()));
  const said = memory.namesMessages ? record.named : record.answer;
  if (reason === 'end_turn' && said !== undefined) {
    // The decision must use the text that is kept, in which half characters are replaced.
    const output = Buffer.from(said).toString('utf8');
    writeAnswer(step.folder, output);
    const { denied } = followed;
    return { kind: 'answered', output, answer: answerRef(output), denied, account };
  }
  if (silent) {
    const message = `${step.state} was silent for ${step.idleTimeoutMs / 1000} s and was stopped.`;
    return failed({ kind: 'idle', message });
  }
  const isLost = end.kind === 'none' && how === 'adopted' && exit?.kind !== 'exited';
  if (how === 'stopped' || isLost || followed.isGivenUp) {
    return { kind: 'interrupted', sessionUsable: isUsable(memory, turn), account };
  }
  if (end.kind === 'error') return failed(failureOf(memory, end.error, Date.now()));
  if (end.kind === 'none')
    return failed(withoutAnswer(memory, exit, turn.stderr, step.cwd, end.reason));
  // Without an answer of the model, the last remark is the reason.
  const message = lastLine(record.remark);
  if (reason === 'end_turn' && message !== undefined)
    return failed(failureOf(memory, { code: 0, message }, Date.now()));
  return failed(withoutText(memory, reason ?? ''));
}

/** Some agents end the turn when a call is denied. */
function denialsIn({ denied }: FollowedTurn): string {
  return denied.length === 0 ? '' : ` It was denied: ${denied.join(', ').slice(0, MOST_DENIED)}`;
}

const MOST_DENIED = 1_000;

function isUsable({ adapter }: Memory, { prompt, followed }: SettledTurn): boolean {
  const { record, end } = followed;
  const isKept =
    !adapter?.keepsFromFirstAnswer || !prompt.isFirst || record.hasActed || end.kind !== 'none';
  return record.hasSpoken && isKept && prompt.canLoad;
}

function lastLine(text: string | undefined): string | undefined {
  return text
    ?.split('\n')
    .map((line) => line.trim())
    .findLast((line) => line !== '');
}

/** The failure of a process that ended, or that did not answer. */
export function withoutAnswer(
  { name }: Pick<Memory, 'name'>,
  exit: Exit | undefined,
  stderr: OwnFile,
  cwd: string,
  reason: string,
): Failure {
  if (exit?.kind === 'unstarted') {
    const kind = existsSync(cwd) ? 'no-executable' : 'bad-directory';
    return { kind, message: exit.reason };
  }
  const code = exit?.kind === 'exited' ? `exit code ${exit.code}` : 'its exit code is unknown';
  const fact = reason === '' ? `${name} ended without an answer (${code}).` : `${name}: ${reason}`;
  const message = `${fact} ${tailIfReadable(stderr).slice(-MOST_COMPLAINT)}`.trim();
  // Whatever is not recognised is a crash, so that it is tried again.
  const known = failureOf({ name, logins: [] }, { code: 0, message }, Date.now(), 'crashed');
  return known.kind === 'not-logged-in' ? known : { kind: 'crashed', message };
}

const MOST_COMPLAINT = 1_000;

function withoutText({ name }: Memory, reason: string): Failure {
  switch (reason as StopReason) {
    case 'end_turn':
      return { kind: 'blocked', message: 'The model did not answer.' };
    case 'max_tokens':
      return { kind: 'refused', message: `${name} reached the limit of tokens for an answer.` };
    case 'max_turn_requests':
      return { kind: 'refused', message: `${name} reached its limit of requests for a turn.` };
    case 'refusal':
      return { kind: 'refused', message: `${name} refused to answer.` };
    case 'cancelled':
      return { kind: 'blocked', message: `${name} cancelled the turn by itself.` };
    default:
      return { kind: 'crashed', message: `${name} ended the turn without a known reason.` };
  }
}

function accountOf(
  { notes, prices, countsLastRequest }: Memory,
  { step, prompt, followed }: SettledTurn,
): Account {
  const { record, end } = followed;
  const { session, own, beforeUsd, beforeUsage, model } = prompt;
  const account = costOf(
    {
      result: end.kind === 'result' ? end.result : undefined,
      reported: record.usage,
      beforeUsd,
      totalUsd: record.totalUsd,
      beforeUsage,
      totalUsage: record.totalUsage,
      model,
      characters: step.prompt.length + record.characters,
      hasSpoken: record.hasSpoken,
      requests: countsLastRequest ? record.calls + 1 : 1,
    },
    prices,
  );
  const totalUsd = record.totalUsd ?? beforeUsd;
  const totalUsage = record.totalUsage ?? beforeUsage;
  const note = {
    ...{ session, own },
    ...(totalUsd > 0 && { totalUsd }),
    ...(totalUsage && { totalUsage }),
  };
  notes.write(step.session.id, note);
  notes.write(session, note);
  // A name that a note cannot have stays in the note of the session's other name.
  return { ...account, session: { id: isSessionId(session) ? session : step.session.id } };
}
