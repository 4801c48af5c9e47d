/** Executes prompt states with Claude Code. */
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { Executor, Live, PromptStep, RunningStep, Step, StepOutcome } from '../../ports.ts';
import { inheritedEnvironment } from '../environment.ts';
import type { LaunchedProcess, RunProcesses } from '../process.ts';
import { claudeArguments, claudeEnvironment, type TurnSession, userMessage } from './command.ts';
import { findClaude } from './executable.ts';
import { type FollowedTurn, followTurn } from './follow-turn.ts';
import { ownModel } from './own-model.ts';
import { settle } from './settle.ts';
import { startGate } from './start-gate.ts';
import { readTranscript } from './transcript.ts';
import { configFolderOf, type Transcripts, transcriptsIn } from './transcripts.ts';
import { readTurn, type TurnFile, writeTurn } from './turn-file.ts';
import { adjustments, environmentKey, type WarmProcess, WarmProcesses } from './warm.ts';

export interface ClaudeOptions {
  /** The executable that the configuration names. */
  readonly path: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly processes: RunProcesses;
}

export function claudeExecutor(options: ClaudeOptions): Executor {
  const claude: Claude = {
    ...options,
    transcripts: transcriptsIn(options.environment),
    warm: new WarmProcesses(MOST_IDLE, LONGEST_IDLE_MS),
    enterStart: startGate(availableParallelism()),
  };
  const start = (step: Step, live: Show) =>
    controlled((control) => takeTurn(claude, withModel(claude, asPrompt(step)), live, control));
  return {
    start,
    adopt: (step, live) => {
      const turn = readTurn(step.folder);
      const launched = turn && claude.processes.adopt(turn.process);
      // Nothing began, and nothing will: the turn can still be taken.
      if (!turn || !launched) return start(step, live);
      return controlled((control) =>
        adoptTurn(claude, asPrompt(step), live, control, turn, launched),
      );
    },
    close: () => claude.warm.close(),
  };
}

const MOST_IDLE = 8;
const LONGEST_IDLE_MS = 5 * 60_000;

type Show = (live: Live) => void;

interface Claude extends ClaudeOptions {
  readonly transcripts: Transcripts;
  readonly warm: WarmProcesses;
  /** Waits for a place among those that are between spawn and first word. */
  readonly enterStart: () => Promise<() => void>;
}

/** A session that goes on would otherwise keep the model that an earlier state named. */
function withModel(claude: Claude, step: PromptStep): PromptStep {
  return step.session.use === 'fresh' ? step : { ...step, model: modelOf(claude, step) };
}

function modelOf({ environment }: Claude, { model, cwd }: PromptStep): string {
  return model ?? ownModel(environment, configFolderOf(environment), cwd);
}

/** What a stop needs to know of a turn under way. */
interface Control {
  stopped: boolean;
  launched: LaunchedProcess | undefined;
}

function controlled(take: (control: Control) => Promise<StepOutcome>): RunningStep {
  const control: Control = { stopped: false, launched: undefined };
  return {
    outcome: take(control).catch(crashed),
    stop: () => {
      control.stopped = true;
      void control.launched?.stop();
    },
  };
}

async function takeTurn(
  claude: Claude,
  step: PromptStep,
  live: Show,
  control: Control,
): Promise<StepOutcome> {
  const waiting = await claude.warm.take(step);
  if (control.stopped) {
    if (waiting) claude.warm.keep(step.agent, waiting);
    return NOT_BEGUN;
  }
  const begun = waiting ? sendWarm(waiting, step) : await launchTurn(claude, step, control);
  if ('failure' in begun) return { kind: 'failed', failure: begun.failure, costUsd: 0 };
  if (control.stopped && !begun.process.launched.identity) return NOT_BEGUN;

  const { process, turn } = begun;
  control.launched = process.launched;
  if (control.stopped) void process.launched.stop();
  const followed = await followTurn({
    launched: process.launched,
    turn,
    idleTimeoutMs: step.idleTimeoutMs,
    live,
    onInit: begun.onInit,
    onSilence: () => void process.launched.stop(),
    untilExit: !step.warm,
  });
  begun.onInit();
  process.offset = followed.offset;
  process.totalUsd = followed.totalUsd ?? process.totalUsd;
  process.spentUsd += followed.outcome.costUsd;

  const canServe =
    step.warm && followed.outcome.kind === 'answered' && !followed.exit && !control.stopped;
  if (canServe) claude.warm.keep(step.agent, process);
  else await endProcess(process.launched, followed);
  return settle(claude.transcripts, step, turn, followed, control.stopped ? 'stopped' : 'ours');
}

async function adoptTurn(
  claude: Claude,
  step: PromptStep,
  live: Show,
  control: Control,
  turn: TurnFile,
  launched: LaunchedProcess,
): Promise<StepOutcome> {
  control.launched = launched;
  const followed = await followTurn({
    launched,
    turn,
    idleTimeoutMs: step.idleTimeoutMs,
    live,
    onInit: () => {},
    onSilence: () => void launched.stop(),
    untilExit: true,
  });
  await endProcess(launched, followed);
  return settle(claude.transcripts, step, turn, followed, control.stopped ? 'stopped' : 'adopted');
}

interface Begun {
  readonly process: WarmProcess;
  readonly turn: TurnFile;
  readonly onInit: () => void;
}

type Failed = { readonly failure: Extract<StepOutcome, { kind: 'failed' }>['failure'] };

/** The next prompt of a process that waits for one. */
function sendWarm(process: WarmProcess, step: PromptStep): Begun {
  const prompt = randomUUID();
  const { folder, offset, totalUsd } = process;
  const turn: TurnFile = {
    prompts: [prompt],
    process: folder,
    offset,
    ...(totalUsd !== undefined && { processTotalUsd: totalUsd }),
  };
  writeTurn(step.folder, turn);
  for (const line of adjustments(process, step, randomUUID)) process.launched.stdin?.write(line);
  process.launched.stdin?.write(userMessage(step.prompt, prompt));
  return { process, turn, onInit: () => {} };
}

async function launchTurn(
  claude: Claude,
  step: PromptStep,
  control: Control,
): Promise<Begun | Failed> {
  const executable = findClaude(claude.path, claude.environment);
  if (!executable.found) {
    const message = `${executable.problem} ${executable.remedy}`;
    return { failure: { kind: 'no-executable', message } };
  }

  const prompt = randomUUID();
  const { session, earlier, totalUsd } = sessionOf(claude, step);
  const turn: TurnFile = {
    prompts: [...earlier, prompt],
    process: step.folder,
    offset: 0,
    ...(totalUsd !== undefined && { transcriptTotalUsd: totalUsd }),
  };
  writeTurn(step.folder, turn);

  const leave = await claude.enterStart();
  if (control.stopped) {
    leave();
    return { process: notBegun(step), turn, onInit: () => {} };
  }
  try {
    const launched = claude.processes.launch({
      folder: step.folder,
      command: executable.path,
      args: claudeArguments({
        session,
        ...(step.model !== undefined && { model: step.model }),
        ...(step.effort !== undefined && { effort: step.effort }),
        permission: step.skipPermissions ? 'skip' : { mode: step.permissionMode },
        ...(step.budgetUsd !== undefined && { budgetUsd: step.budgetUsd }),
      }),
      cwd: step.cwd,
      env: claudeEnvironment(inheritedEnvironment(claude.environment), step.environment),
      // Older versions do not read an input that is a file.
      stdin: 'pipe',
    });
    launched.stdin?.write(userMessage(step.prompt, prompt));
    if (!step.warm) launched.stdin?.end();
    const process: WarmProcess = { ...notBegun(step), launched, model: modelOf(claude, step) };
    void launched.ended.then(() => {
      process.hasEnded = true;
    });
    return { process, turn, onInit: leave };
  } catch (error) {
    leave();
    throw error;
  }
}

/**
 * Where the turn's history comes from. What an earlier try of the same prompt left in the session is
 * cut off, so that the model never sees a prompt twice.
 */
function sessionOf({ transcripts }: Claude, { session, cwd, previousFolder }: PromptStep) {
  if (session.use === 'fresh')
    return { session: session satisfies TurnSession, earlier: [], totalUsd: undefined };
  const source = session.use === 'branch' ? session.from : session.id;
  const earlier = (previousFolder && readTurn(previousFolder)?.prompts) || [];
  const transcript = transcripts.find(source, cwd);
  const read = readTranscript(transcripts.read(source, cwd), earlier);
  return {
    session: {
      ...session,
      ...(transcript !== undefined && { transcript }),
      ...(read.hasPrompt && read.cutAt !== undefined && { at: read.cutAt }),
    } satisfies TurnSession,
    earlier,
    totalUsd: read.costUsd,
  };
}

function notBegun(step: PromptStep): WarmProcess {
  return {
    launched: {
      stdoutFile: '',
      stderrFile: '',
      ended: new Promise(() => {}),
      stop: async () => [],
      endLeftovers: async () => [],
    },
    folder: step.folder,
    session: step.session.id,
    cwd: step.cwd,
    environment: environmentKey(step),
    skipPermissions: step.skipPermissions,
    capUsd: step.budgetUsd,
    model: step.model,
    effort: step.effort,
    permissionMode: step.permissionMode,
    offset: 0,
    totalUsd: undefined,
    spentUsd: 0,
    hasEnded: false,
  };
}

/** Also what its tools left running, which outlives even a process that was killed. */
async function endProcess(launched: LaunchedProcess, { exit }: FollowedTurn): Promise<void> {
  await (exit ? launched.endLeftovers() : launched.stop());
}

const NOT_BEGUN: StepOutcome = { kind: 'interrupted', costUsd: 0, sessionUsable: false };

function asPrompt(step: Step): PromptStep {
  if (step.kind === 'prompt') return step;
  throw new Error('Bug: a script was given to Claude Code');
}

function crashed(error: unknown): StepOutcome {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', failure: { kind: 'crashed', message }, costUsd: 0 };
}
