/** Says what a turn came to, and keeps notes about its session. */
import { resolve } from 'node:path';
import type { PromptStep } from '../../ports.ts';
import {
  type Protected,
  type Protection,
  protectedBy,
  protectedIn,
  protection,
} from '../agents/protected-files.ts';
import { sourceOf } from '../steps/kept-notes.ts';
import type { How, Report, TurnEnd } from '../turn/turn-executor.ts';
import type { ClaudeStep } from './choices.ts';
import type { FollowedTurn } from './follow-turn.ts';
import type { Denial } from './messages.ts';
import type { SessionNote, SessionNotes, TurnFile } from './records.ts';
import { readTranscript } from './transcript.ts';
import { readIfExists, type Transcripts } from './transcripts.ts';
import type { TurnWords } from './turn-words.ts';

interface Memory {
  readonly protects: Protected;
  readonly transcripts: Transcripts;
  readonly notes: SessionNotes;
}

export function reportOf(
  memory: Memory,
  step: ClaudeStep,
  turn: TurnFile,
  followed: FollowedTurn,
  how: How,
  words: TurnWords,
): Report {
  const { outcome, offset } = followed;
  const { session } = step;
  // If the turn stopped before its first checkpoint, the history can be cut off after the prompt.
  const checkpoint = followed.checkpoint ?? (followed.hasSpoken ? turn.prompts.at(-1) : undefined);
  const before = memory.notes.read(sourceOf(session));
  memory.notes.write(session.id, noteAfter(before ?? {}, turn, followed, checkpoint));
  // Its process may have died before it repeated a message that the conversation has.
  let read: { readonly text: string | undefined } | undefined;
  const transcript = () => {
    read ??= { text: transcriptOf(memory, step) };
    return read.text;
  };
  words.close((id) => hasWords(transcript(), id));
  return {
    end: endOf(memory, step, followed),
    account: {
      cost: outcome.cost,
      ...(outcome.usage && { usage: outcome.usage }),
      ...(outcome.model !== undefined && { model: outcome.model }),
      ...(outcome.contextTokens !== undefined && { contextTokens: outcome.contextTokens }),
      session: { id: session.id, ...(checkpoint !== undefined && { checkpoint }) },
    },
    raw: { from: turn.offset, to: offset },
    isLost: how === 'adopted' && outcome.kind === 'failed' && outcome.failure.kind === 'crashed',
    isUsable: () =>
      hasPrompt(transcript(), turn, followed) &&
      words.heard.every((id) => hasWords(transcript(), id)),
  };
}

function endOf({ protects }: Memory, step: ClaudeStep, { outcome }: FollowedTurn): TurnEnd {
  if (outcome.kind === 'answered') {
    const limits = protection(protects, step);
    const denied = outcome.denied.map((denial) => lineAbout(denial, step, limits));
    return { kind: 'answered', text: outcome.text, denied };
  }
  const { failure } = outcome;
  // The turn reached its share of the budget. It can continue with more money.
  if (failure.kind === 'budget-spent') return { kind: 'unfinished' };
  return { kind: 'failed', failure };
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

/** Undefined if it cannot be found. */
function transcriptOf(
  { transcripts, notes }: Memory,
  { session, cwd }: PromptStep,
): string | undefined {
  const file = transcripts.find(session.id, cwd, notes.read(session.id)?.transcripts);
  return file === undefined ? undefined : readIfExists(file);
}

/** Whether the session contains the prompt, so that the agent can continue with it. */
function hasPrompt(
  transcript: string | undefined,
  { prompts }: TurnFile,
  { hasSpoken }: FollowedTurn,
): boolean {
  if (transcript === undefined) return hasSpoken;
  return readTranscript(transcript, prompts).hasPrompt;
}

/** Words are an own message, or stand beside the results of tools. */
const hasWords = (transcript: string | undefined, id: string): boolean =>
  transcript?.includes(`"uuid":"${id}"`) === true ||
  transcript?.includes(`"source_uuid":"${id}"`) === true;
