/** Sends a prompt to Claude Code: to a new process, or to one that waits for its next prompt. */
import { randomUUID } from 'node:crypto';
import type { StepOutcome } from '../../ports.ts';
import { agentEnvironment } from '../agents/environment.ts';
import { type LaunchedProcess, makeFifo, type RunProcesses } from '../process/index.ts';
import { sourceOf } from '../steps/kept-notes.ts';
import { type Gate, type Leave, type Place, placeUntil } from '../turn/gate.ts';
import { writeTurnFile } from '../turn/turn-file.ts';
import type { AgentOptions } from './agent-options.ts';
import type { ClaudeStep } from './choices.ts';
import {
  claudeArguments,
  claudeEnvironment,
  send,
  type TurnSession,
  userMessage,
} from './command.ts';
import { findClaude } from './health.ts';
import type { OwnModels } from './own-model.ts';
import { readTurn, type SessionNote, type SessionNotes, type TurnFile } from './records.ts';
import { readTranscript } from './transcript.ts';
import { readIfExists, type Transcripts } from './transcripts.ts';
import { adjust, fixedOf, type WarmProcess } from './warm.ts';

export interface Launcher {
  /** The executable that the configuration names. */
  readonly path: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly processes: RunProcesses;
  /** Options for every process. */
  readonly agentOptions?: AgentOptions;
  readonly transcripts: Transcripts;
  readonly notes: SessionNotes;
  readonly ownModel: OwnModels;
  /** Limits the number of processes, including those that wait for a prompt. */
  readonly places: Gate;
  /** Limits how many processes start at the same time: more would slow each other down. */
  readonly starts: Gate;
}

interface LaunchedTurn {
  readonly process: WarmProcess;
  readonly turn: TurnFile;
  readonly onInit: () => void;
}

type Failed = { readonly failure: Extract<StepOutcome, { kind: 'failed' }>['failure'] };

export async function launchTurn(
  launcher: Launcher,
  step: ClaudeStep,
  isStopped: () => boolean,
): Promise<LaunchedTurn | Failed | 'stopped'> {
  const executable = findClaude(launcher.path, launcher.environment);
  if (!executable.found) {
    const message = `${executable.problem} ${executable.remedy}`;
    return { failure: { kind: 'no-executable', message } };
  }
  const leavePlace = await launcher.places.enter();
  const leaveStart = await launcher.starts.enter();
  try {
    const model = await modelToName(launcher, step, executable.path);
    if (hasFifo(step)) await makeFifo(step.folder);
    if (!isStopped()) {
      const begun = begin(launcher, step, executable.path, model, leavePlace);
      return { ...begun, onInit: leaveStart };
    }
  } catch (error) {
    leaveStart();
    leavePlace();
    throw error;
  }
  leaveStart();
  leavePlace();
  return 'stopped';
}

/** Sends the prompt to a waiting process; undefined if the process cannot serve this step. */
export async function sendWarm(
  launcher: Launcher,
  process: WarmProcess,
  step: ClaudeStep,
): Promise<LaunchedTurn | undefined> {
  const note = launcher.notes.read(process.session);
  const model = knownModel(note, step);
  if (model === 'unknown') return undefined;
  const has = note?.namedModel ?? note?.ownModel;
  const isServing = await adjust(process, step, model === has ? undefined : model);
  if (!isServing) return undefined;

  const prompt = randomUUID();
  const { folder, offset, totalUsd } = process;
  const turn: TurnFile = {
    prompts: [prompt],
    process: folder,
    offset,
    ...(model !== undefined && { model }),
    ...(note?.checkpoint !== undefined && { cutAt: note.checkpoint }),
    ...(totalUsd !== undefined && { processTotalUsd: totalUsd }),
  };
  writeTurnFile(launcher.processes.seals, step.folder, turn);
  send(process.launched, userMessage(step.prompt, prompt));
  return { process, turn, onInit: () => {} };
}

function begin(
  launcher: Launcher,
  step: ClaudeStep,
  command: string,
  model: string | undefined,
  leavePlace: Leave,
): Omit<LaunchedTurn, 'onInit'> {
  const prompt = randomUUID();
  const { session, earlier, ...before } = sessionOf(launcher, step);
  const turn: TurnFile = {
    prompts: [...earlier, prompt],
    process: step.folder,
    offset: 0,
    ...(model !== undefined && { model }),
    ...before,
  };
  writeTurnFile(launcher.processes.seals, step.folder, turn);
  const launched = launcher.processes.launch({
    folder: step.folder,
    command,
    args: claudeArguments({
      ...step,
      session,
      model,
      permission: step.skipPermissions ? 'skip' : { mode: step.permissionMode },
      deny: [...step.deny.fixed, ...step.deny.states],
      asksPermissions: asksPermissions(step),
      options: launcher.agentOptions,
    }),
    cwd: step.cwd,
    env: environmentOf(launcher, step),
    confine: step.confine(),
    // Older versions do not read their input from a file.
    stdin: hasFifo(step) ? 'fifo' : 'pipe',
  });
  send(launched, userMessage(step.prompt, prompt));
  const place = placeUntil(launched.ended, launcher.places, leavePlace);
  return { process: newProcess(step, launched, place), turn };
}

function asksPermissions(step: ClaudeStep): boolean {
  return step.asksPermissions && !step.skipPermissions;
}

/**
 * If the writer of a pipe dies, Claude Code takes a pending request for denied. With a FIFO it waits for
 * the next Raymond process. Without requests a pipe is better: after a crash, the process ends itself.
 */
function hasFifo(step: ClaudeStep): boolean {
  return asksPermissions(step) && process.platform !== 'win32';
}

/**
 * A session continues with the model that was named for it last. So Raymond names a model only to
 * undo an earlier one. Otherwise the user's own choice applies, wherever it is configured.
 */
function knownModel(
  note: SessionNote | undefined,
  { model, session }: ClaudeStep,
): string | undefined | 'unknown' {
  if (model !== undefined || session.use === 'fresh') return model;
  if (note === undefined) return 'unknown';
  if (note.namedModel !== undefined) return note.ownModel ?? 'unknown';
  // Older versions lose the longer context of their default model when a session is resumed.
  return note.ownModel?.endsWith(']') ? note.ownModel : undefined;
}

async function modelToName(
  launcher: Launcher,
  step: ClaudeStep,
  command: string,
): Promise<string | undefined> {
  const { session, folder, cwd, skipsProject, confine } = step;
  const note = launcher.notes.read(sourceOf(session));
  const known = knownModel(note, step);
  if (known !== 'unknown') return known;
  const env = environmentOf(launcher, step);
  const ownModel = await launcher.ownModel({
    ...{ folder, command, cwd, env, skipsProject, confine },
  });
  // The model is named from now on, so that a session without a note also uses it.
  if (ownModel !== undefined)
    launcher.notes.write(sourceOf(session), { namedModel: ownModel, ...note, ownModel });
  return ownModel;
}

/**
 * The source of the turn's history. Messages of an earlier attempt at the same prompt are cut off, so
 * that the model never sees a prompt twice.
 */
function sessionOf(
  { transcripts, notes, processes }: Launcher,
  { session, cwd, previousFolder }: ClaudeStep,
) {
  if (session.use === 'fresh') return { session: session satisfies TurnSession, earlier: [] };
  const note = notes.read(sourceOf(session));
  const previous =
    previousFolder === undefined ? undefined : readTurn(processes.seals, previousFolder);
  const earlier = previous?.prompts ?? [];
  const transcript = transcripts.find(sourceOf(session), cwd, note?.transcripts);
  const read = readTranscript(readIfExists(transcript), earlier);
  const branchedAt = session.use === 'branch' ? session.at : undefined;
  const cutAt = previous ? previous.cutAt : (branchedAt ?? note?.checkpoint);
  const cut = read.hasPrompt ? read.cutAt : branchedAt;
  const at = transcript === undefined && previous && session.use === 'continue' ? cutAt : cut;
  const total = transcript === undefined ? note?.totalUsd : read.costUsd;
  const { at: _, ...use } = { at: undefined, ...session };
  return {
    session: {
      ...use,
      ...(transcript !== undefined && { transcript }),
      ...(at !== undefined && { at }),
    } satisfies TurnSession,
    earlier,
    ...(cutAt !== undefined && { cutAt }),
    ...(total !== undefined && { transcriptTotalUsd: total }),
  };
}

function environmentOf({ environment }: Launcher, step: ClaudeStep): Record<string, string> {
  return claudeEnvironment(agentEnvironment(environment), step.environment);
}

function newProcess(step: ClaudeStep, launched: LaunchedProcess, place: Place): WarmProcess {
  const process: WarmProcess = {
    launched,
    folder: step.folder,
    session: step.session.id,
    fixed: fixedOf(step),
    granted: new Set(step.granted),
    place,
    capUsd: step.budgetUsd,
    effort: step.effort,
    permissionMode: step.permissionMode,
    offset: 0,
    totalUsd: undefined,
    spentUsd: 0,
    hasEnded: false,
  };
  void launched.ended.then(() => {
    process.hasEnded = true;
  });
  return process;
}
