import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Account } from '../../model/step-account.ts';
import type { PromptStep, StepOutcome } from '../../ports.ts';
import { answerRef } from '../answer-ref.ts';
import { leaveAnswer, leaveRaw } from '../step-folder.ts';
import type { FollowedTurn } from './follow-turn.ts';
import type { SessionNote, SessionNotes } from './session-notes.ts';
import { readTranscript } from './transcript.ts';
import { readIfExists, type Transcripts } from './transcripts.ts';
import type { TurnFile } from './turn-file.ts';

interface Memory {
  readonly transcripts: Transcripts;
  readonly notes: SessionNotes;
}

/** What a turn means for its step. What it told of its session is kept. */
export function settle(
  memory: Memory,
  step: PromptStep,
  turn: TurnFile,
  followed: FollowedTurn,
  how: 'ours' | 'stopped' | 'adopted',
): StepOutcome {
  const { outcome, silent, exit, offset } = followed;
  const { session } = step;
  const checkpoint = checkpointOf(turn, followed);
  const account: Account = {
    cost: outcome.cost,
    ...(outcome.usage && { usage: outcome.usage }),
    session: { id: session.id, ...(checkpoint !== undefined && { checkpoint }) },
  };
  const before = memory.notes.read(session.use === 'branch' ? session.from : session.id);
  memory.notes.write(session.id, noteAfter(before ?? {}, turn, followed, checkpoint));
  leaveRaw(step.folder, { file: join(turn.process, 'stdout'), from: turn.offset, to: offset });
  if (outcome.kind === 'answered') {
    // What is kept is what decides, also where the text has halves of characters.
    const text = Buffer.from(outcome.text).toString('utf8');
    leaveAnswer(step.folder, text);
    const denied = outcome.denied.map(({ tool, summary }) => `${tool} ${summary}`.trim());
    return { kind: 'answered', output: text, answer: answerRef(text), denied, account };
  }
  const { failure } = outcome;
  // The turn was cut short by its share of the budget; with more money it can go on.
  if (failure.kind === 'budget-spent') return { kind: 'interrupted', sessionUsable: true, account };
  if (silent) {
    const message = `${step.state} was silent for ${step.idleTimeoutMs / 1000} s and was stopped.`;
    return { kind: 'failed', failure: { kind: 'idle', message }, account };
  }
  const lost = how === 'stopped' || (how === 'adopted' && failure.kind === 'crashed');
  if (lost)
    return { kind: 'interrupted', sessionUsable: hasPrompt(memory, step, turn, followed), account };
  if (exit?.kind === 'unstarted') {
    const kind = existsSync(step.cwd) ? 'no-executable' : 'bad-directory';
    return { kind: 'failed', failure: { kind, message: exit.reason }, account };
  }
  return { kind: 'failed', failure: { ...failure, kind: failure.kind }, account };
}

/** Of work that was cut short before it could be cut, the prompt is what stays. */
function checkpointOf(
  { prompts }: TurnFile,
  { checkpoint, hasSpoken }: FollowedTurn,
): string | undefined {
  return checkpoint ?? (hasSpoken ? prompts.at(-1) : undefined);
}

function noteAfter(
  before: SessionNote,
  turn: TurnFile,
  { init, totalUsd }: FollowedTurn,
  checkpoint: string | undefined,
): SessionNote {
  const namedModel = turn.model ?? before.namedModel;
  const ownModel = namedModel === undefined ? init?.model || before.ownModel : before.ownModel;
  return {
    ...before,
    ...(ownModel !== undefined && { ownModel }),
    ...(namedModel !== undefined && { namedModel }),
    ...(totalUsd !== undefined && { totalUsd }),
    ...(checkpoint !== undefined && { checkpoint }),
    ...(init?.transcripts !== undefined && { transcripts: init.transcripts }),
  };
}

/** Whether the session knows of the prompt, and so can be told to go on with it. */
function hasPrompt(
  { transcripts, notes }: Memory,
  { session, cwd }: PromptStep,
  { prompts }: TurnFile,
  { hasSpoken }: FollowedTurn,
): boolean {
  const file = transcripts.find(session.id, cwd, notes.read(session.id)?.transcripts);
  if (file === undefined) return hasSpoken;
  return readTranscript(readIfExists(file), prompts).hasPrompt;
}
