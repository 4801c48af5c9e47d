import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Account } from '../../model/step-account.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { PromptStep, StepOutcome } from '../../ports.ts';
import { answerRef } from '../answer-ref.ts';
import {
  type Protected,
  type Protection,
  protectedBy,
  protectedIn,
  protection,
} from '../protected-files.ts';
import { writeAnswer, writeRawLocation } from '../step-folder.ts';
import type { ClaudeStep } from './choices.ts';
import type { FollowedTurn } from './follow-turn.ts';
import type { Denial } from './messages.ts';
import type { SessionNote, SessionNotes } from './session-notes.ts';
import { readTranscript } from './transcript.ts';
import { readIfExists, type Transcripts } from './transcripts.ts';
import type { TurnFile } from './turn-file.ts';

interface Memory {
  readonly protects: Protected;
  readonly transcripts: Transcripts;
  readonly notes: SessionNotes;
}

/** Turns the outcome of a turn into the outcome of its step, and keeps notes about the session. */
export function settle(
  memory: Memory,
  step: ClaudeStep,
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
  writeRawLocation(step.folder, {
    file: join(turn.process, STEP_FILES.stdout.name),
    from: turn.offset,
    to: offset,
  });
  if (outcome.kind === 'answered') {
    // The decision must use the text that is kept, in which half characters are replaced.
    const text = Buffer.from(outcome.text).toString('utf8');
    writeAnswer(step.folder, text);
    const limits = protection(memory.protects, step);
    const denied = outcome.denied.map((denial) => lineAbout(denial, step, limits));
    return { kind: 'answered', output: text, answer: answerRef(text), denied, account };
  }
  const { failure } = outcome;
  // The turn reached its share of the budget. It can continue with more money.
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

/** A denied call in one line, with the protected file if there is one. */
function lineAbout({ tool, summary }: Denial, { cwd }: ClaudeStep, limits: Protection): string {
  const line = `${tool} ${summary}`.trim();
  const file =
    tool === 'Bash'
      ? protectedIn(summary, cwd, limits)
      : tool.endsWith('Edit') || tool === 'Write'
        ? protectedBy(resolve(cwd, summary), limits)
        : undefined;
  return file === undefined ? line : `${line} (protected: ${file})`;
}

/** If the turn stopped before its first checkpoint, the history can be cut off after the prompt. */
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

/** Whether the session contains the prompt, so that the agent can continue with it. */
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
