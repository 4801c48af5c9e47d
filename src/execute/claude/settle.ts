import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { PromptStep, StepOutcome } from '../../ports.ts';
import { leaveAnswer, leaveRaw } from '../step-folder.ts';
import type { FollowedTurn } from './follow-turn.ts';
import { readTranscript } from './transcript.ts';
import type { Transcripts } from './transcripts.ts';
import type { TurnFile } from './turn-file.ts';

/** What a turn means for its step. */
export function settle(
  transcripts: Transcripts,
  step: PromptStep,
  turn: TurnFile,
  { outcome, silent, exit, offset }: FollowedTurn,
  how: 'ours' | 'stopped' | 'adopted',
): StepOutcome {
  const { costUsd } = outcome;
  leaveRaw(step.folder, { file: join(turn.process, 'stdout'), from: turn.offset, to: offset });
  if (outcome.kind === 'answered') {
    leaveAnswer(step.folder, outcome.text);
    const denied = outcome.denied.map(({ tool, summary }) => `${tool} ${summary}`.trim());
    return { kind: 'answered', output: outcome.text, costUsd, denied };
  }
  const { failure } = outcome;
  // The turn was cut short by its share of the budget; with more money it can go on.
  if (failure.kind === 'budget-spent') return { kind: 'interrupted', costUsd, sessionUsable: true };
  if (silent) {
    const message = `${step.state} was silent for ${step.idleTimeoutMs / 1000} s and was stopped.`;
    return { kind: 'failed', failure: { kind: 'idle', message }, costUsd };
  }
  const lost = how === 'stopped' || (how === 'adopted' && failure.kind === 'crashed');
  if (lost)
    return { kind: 'interrupted', costUsd, sessionUsable: hasPrompt(transcripts, step, turn) };
  if (exit?.kind === 'unstarted') {
    const kind = existsSync(step.cwd) ? 'no-executable' : 'bad-directory';
    return { kind: 'failed', failure: { kind, message: exit.reason }, costUsd };
  }
  return { kind: 'failed', failure: { ...failure, kind: failure.kind }, costUsd };
}

/** Whether the session knows of the prompt, and so can be told to go on with it. */
function hasPrompt(
  transcripts: Transcripts,
  { session, cwd }: PromptStep,
  { prompts }: TurnFile,
): boolean {
  return readTranscript(transcripts.read(session.id, cwd), prompts).hasPrompt;
}
