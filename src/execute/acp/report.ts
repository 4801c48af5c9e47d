/** Says what a turn came to, and keeps notes about its session. */
import type { StopReason } from '@agentclientprotocol/sdk/unstable';
import type { OwnFile } from '../../files/own-file.ts';
import type { Prices } from '../../model/configured-agent.ts';
import type { Failure } from '../../model/failure.ts';
import type { Account } from '../../model/step-account.ts';
import type { PromptStep } from '../../ports.ts';
import { fields, text } from '../json.ts';
import type { Exit } from '../process/index.ts';
import { tailIfReadable } from '../steps/file-text.ts';
import { isSessionId } from '../steps/kept-notes.ts';
import { type How, type Report, type TurnEnd, unstarted } from '../turn/turn-executor.ts';
import type { Adapter } from './adapter.ts';
import { costOf } from './cost.ts';
import { failureOf } from './failures.ts';
import type { FollowedTurn } from './follow-turn.ts';
import type { SentPrompt, SessionNotes } from './records.ts';

interface Memory {
  readonly name: string;
  readonly notes: SessionNotes;
  readonly prices: Prices;
  readonly logins: readonly string[];
  readonly namesMessages?: true;
  readonly adapter?: Adapter;
  readonly countsLastRequest?: true;
}

interface SettledTurn {
  readonly step: PromptStep;
  readonly prompt: SentPrompt;
  readonly stderr: OwnFile;
  readonly followed: FollowedTurn;
  readonly how: How;
}

export function reportOf(memory: Memory, turn: SettledTurn): Report {
  const { prompt, followed, how } = turn;
  const { end, exit, isGivenUp, offset } = followed;
  return {
    account: accountOf(memory, turn),
    end: endOf(memory, turn),
    raw: { from: prompt.offset, to: offset },
    isLost: isGivenUp || (end.kind === 'none' && how === 'adopted' && exit?.kind !== 'exited'),
    isUsable: () => isUsable(memory, turn),
  };
}

function endOf(memory: Memory, turn: SettledTurn): TurnEnd {
  const { followed, how } = turn;
  const { end, record, fault, denied } = followed;
  const isEnded = end.kind === 'result' && text(fields(end.result).stopReason) === 'end_turn';
  // Some agents end the turn when a call is denied.
  const remark =
    denied.length === 0 ? '' : ` It was denied: ${denied.join(', ').slice(0, MOST_DENIED)}`;
  if (isEnded && fault !== undefined && how !== 'stopped') {
    const failure = failureOf(memory, { code: 0, message: fault }, Date.now());
    return { kind: 'failed', failure, isCertain: true, remark };
  }
  const said = memory.namesMessages ? record.named : record.answer;
  if (isEnded && said !== undefined) return { kind: 'answered', text: said, denied };
  return { kind: 'failed', failure: failureAfter(memory, turn, isEnded), remark };
}

const MOST_DENIED = 1_000;

function failureAfter(memory: Memory, turn: SettledTurn, isEnded: boolean): Failure {
  const { end, record, exit } = turn.followed;
  if (end.kind === 'error') return failureOf(memory, end.error, Date.now());
  if (end.kind === 'none')
    return withoutAnswer(memory, exit, turn.stderr, turn.step.cwd, end.reason);
  // Without an answer of the model, the last remark is the reason.
  const message = lastLine(record.remark);
  if (isEnded && message !== undefined) return failureOf(memory, { code: 0, message }, Date.now());
  return withoutText(memory, text(fields(end.result).stopReason));
}

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
  if (exit?.kind === 'unstarted') return unstarted(exit.reason, cwd);
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
  const id = isSessionId(session) ? session : step.session.id;
  const { contextTokens } = record;
  return {
    ...account,
    ...(model !== undefined && { model }),
    ...(contextTokens !== undefined && { contextTokens }),
    session: { id },
  };
}
