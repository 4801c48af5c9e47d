/**
 * INV-22: No code outside of this folder knows a flag, a message or a file of Claude Code.
 *
 * Executes prompt states with Claude Code.
 */
import { availableParallelism } from 'node:os';
import type { OwnFile } from '../../files/own-file.ts';
import { type Account, NO_COST } from '../../model/step-account.ts';
import type { AskPerson, Executor, Live, RunningStep, Step, StepOutcome } from '../../ports.ts';
import { isDisplaced } from '../displaced-output.ts';
import { tailIfReadable } from '../file-text.ts';
import { foreignStep } from '../foreign-step.ts';
import { gate, type Place, placeUntil } from '../gate.ts';
import { leaveTurn } from '../leave-turn.ts';
import type { LaunchedProcess, RunProcesses } from '../process/index.ts';
import { type Approvals, unapprovedSettings } from '../project-settings.ts';
import type { Protected } from '../protected-files.ts';
import { writePrompt } from '../step-folder.ts';
import type { AgentOptions } from './agent-options.ts';
import { type ClaudeStep, readChoices } from './choices.ts';
import { userMessage } from './command.ts';
import { denyRules } from './deny-rules.ts';
import { CLAUDE_SETTINGS } from './folder-trust.ts';
import { type FollowedTurn, followTurn } from './follow-turn.ts';
import { type Launcher, launchTurn, sendWarm } from './launch-turn.ts';
import { ownModels } from './own-model.ts';
import { send } from './process-input.ts';
import { sessionNotesIn } from './session-notes.ts';
import { settle } from './settle.ts';
import { transcriptsIn } from './transcripts.ts';
import { claudeTravel } from './travel.ts';
import { readTurn, type TurnFile } from './turn-file.ts';
import { TurnPermissions } from './turn-permissions.ts';
import { endInOrder, type WarmProcess, WarmProcesses } from './warm.ts';

export interface ClaudeOptions {
  /** The executable that the configuration names. */
  readonly path: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly processes: RunProcesses;
  /** The run's folder for notes about its sessions. */
  readonly sessionsFolder: string;
  readonly protects: Protected;
  readonly approvals: Approvals;
  /** Options for every process. */
  readonly agentOptions?: AgentOptions;
  /** The maximum number of processes, including those that wait for their next prompt. */
  readonly mostProcesses: number;
}

export function claudeExecutor(options: ClaudeOptions): Executor {
  const warm = new WarmProcesses(MAX_IDLE, MAX_IDLE_MS);
  const claude: Claude = {
    ...options,
    transcripts: transcriptsIn(options.environment),
    notes: sessionNotesIn(options.processes.seals, options.sessionsFolder),
    ownModel: ownModels(options.processes, options.agentOptions),
    warm,
    complaints: new Set(),
    places: gate(options.mostProcesses, (waiting) => warm.makeRoom(waiting)),
    starts: gate(availableParallelism()),
  };
  const start = (step: Step, live: Show, ask?: AskPerson) =>
    controlled(ask, async (control) =>
      runTurn(claude, forClaude(claude, step, options), live, control),
    );
  return {
    name: 'claude',
    start,
    adopt: (step, live, ask) => {
      const { processes } = claude;
      const turn = readTurn(processes.seals, step.folder);
      const launched = turn && processes.adopt(turn.process);
      const foreign = foreignStep(processes, step, turn, launched, live);
      if (foreign) return foreign;
      // No process began, and none will, so the turn can start now.
      if (!turn || typeof launched !== 'object') return start(step, live, ask);
      const running = controlled(ask, async (control) =>
        adoptTurn(claude, forClaude(claude, step, options), live, control, turn, launched),
      );
      return { ...running, isAdopted: true };
    },
    close: () => claude.warm.close(),
    travel: claudeTravel(claude),
  };
}

const MAX_IDLE = 8;
const MAX_IDLE_MS = 5 * 60_000;

type Show = (live: Live) => void;

interface Claude extends Launcher {
  readonly protects: Protected;
  readonly warm: WarmProcesses;
  /** Lines of standard error, each shown once per run. They often explain why the agent cannot work. */
  readonly complaints: Set<string>;
}

function showComplaints({ complaints }: Claude, file: OwnFile, live: Show): void {
  const lines = tailIfReadable(file).split('\n');
  for (const line of lines.map((each) => each.trim().slice(0, 300))) {
    if (line === '' || complaints.has(line) || complaints.size >= MAX_COMPLAINTS) continue;
    complaints.add(line);
    live({ kind: 'note', text: `Claude Code says: ${line}` });
  }
}

const MAX_COMPLAINTS = 20;

/** Connects a stop to the turn that is running. */
interface Control {
  stopped: boolean;
  launched: LaunchedProcess | undefined;
  /** Absent while an adopted turn is followed: it is not used for another one. */
  process: WarmProcess | undefined;
  place: Place | undefined;
  readonly permissions: TurnPermissions;
}

function controlled(
  ask: AskPerson | undefined,
  run: (control: Control) => Promise<StepOutcome>,
): RunningStep {
  const permissions = new TurnPermissions({
    ask: (asking) => {
      // Only a process that Raymond can write to waits for a reply.
      if (control.launched?.fifo ?? control.launched?.stdin) ask?.(asking);
    },
    send: (line) => {
      if (control.launched) send(control.launched, line);
    },
    onRest: (isResting) => (isResting ? control.place?.rest() : control.place?.work()),
    onGranted: (rules) => {
      for (const rule of rules) control.process?.granted.add(rule);
    },
  });
  const control: Control = {
    stopped: false,
    launched: undefined,
    process: undefined,
    place: undefined,
    permissions,
  };
  return {
    outcome: run(control).catch(crashed),
    stop: () => {
      control.stopped = true;
      void control.launched?.stop();
    },
    decide: (request, decision) => permissions.decide(request, decision),
    leave: () => void leaveTurn(control.launched, permissions),
  };
}

async function runTurn(
  claude: Claude,
  step: ClaudeStep,
  live: Show,
  control: Control,
): Promise<StepOutcome> {
  const waiting = await claude.warm.acquire(step);
  if (control.stopped) {
    if (waiting) claude.warm.keep(step.agent, waiting);
    return NOT_BEGUN;
  }
  control.launched = waiting?.launched;
  const isReadable = waiting && !isDisplaced(waiting.launched, live);
  const sent = isReadable && (await sendWarm(claude, waiting, step));
  if (waiting && !sent) await endInOrder(waiting);
  const begun = sent || (await launchTurn(claude, step, () => control.stopped));
  if (begun === 'stopped') return NOT_BEGUN;
  if ('failure' in begun) return { kind: 'failed', failure: begun.failure, account: FREE };

  const { process, turn } = begun;
  writePrompt(step.folder, step.prompt);
  control.launched = process.launched;
  control.process = process;
  control.place = process.place;
  if (control.stopped) void process.launched.stop();
  const followed = await followTurn({
    launched: process.launched,
    turn,
    idleTimeoutMs: step.idleTimeoutMs,
    live,
    permissions: control.permissions,
    onInit: begun.onInit,
    onSilence: () => void process.launched.stop(),
    untilExit: !step.warm,
  });
  begun.onInit();
  if (followed.exit?.kind === 'left') return LEFT;
  showComplaints(claude, process.launched.stderr, live);
  process.offset = followed.offset;
  process.totalUsd = followed.totalUsd ?? process.totalUsd;
  process.spentUsd += followed.outcome.cost.usd;

  const { outcome, exit, displaced } = followed;
  const canServe =
    step.warm && outcome.kind === 'answered' && !exit && !displaced && !control.stopped;
  if (canServe && claude.places.waiting === 0) claude.warm.keep(step.agent, process);
  else await endProcess(process.launched, followed);
  return settle(claude, step, turn, followed, control.stopped ? 'stopped' : 'ours');
}

async function adoptTurn(
  claude: Claude,
  step: ClaudeStep,
  live: Show,
  control: Control,
  turn: TurnFile,
  launched: LaunchedProcess,
): Promise<StepOutcome> {
  control.launched = launched;
  control.place = placeUntil(launched.ended, claude.places, claude.places.count());
  sendAgain(launched, step, turn);
  const followed = await followTurn({
    launched,
    turn,
    idleTimeoutMs: step.idleTimeoutMs,
    live,
    permissions: control.permissions,
    onInit: () => {},
    onSilence: () => void launched.stop(),
    untilExit: true,
  });
  if (followed.exit?.kind === 'left') return LEFT;
  await endProcess(launched, followed);
  return settle(claude, step, turn, followed, control.stopped ? 'stopped' : 'adopted');
}

/**
 * The process before may have died before it had sent the prompt, or in the middle of a line. With a
 * FIFO, the agent would wait for the rest forever. Claude Code ignores a prompt that it has seen, and
 * exits at half a line. Then the turn is repeated.
 */
function sendAgain(launched: LaunchedProcess, { prompt }: ClaudeStep, { prompts }: TurnFile): void {
  const uuid = prompts.at(-1);
  if (launched.fifo && uuid !== undefined) send(launched, `\n${userMessage(prompt, uuid)}`);
}

/** Also ends processes that its tools left running: they survive even if Claude Code was killed. */
async function endProcess(launched: LaunchedProcess, { exit }: FollowedTurn): Promise<void> {
  await (exit ? launched.endLeftovers() : launched.stop());
}

const FREE: Account = { cost: NO_COST };
const NOT_BEGUN: StepOutcome = { kind: 'interrupted', sessionUsable: false, account: FREE };
/** Another Raymond process follows the turn, and keeps notes about its session. */
const LEFT: StepOutcome = NOT_BEGUN;

function forClaude({ protects }: Claude, step: Step, { approvals }: ClaudeOptions): ClaudeStep {
  if (step.kind !== 'prompt') throw new Error('Bug: a script was given to Claude Code');
  const chosen = { ...step, ...readChoices(step.choices) };
  const settings = unapprovedSettings({ projectSettings: CLAUDE_SETTINGS }, step.cwd, approvals);
  return { ...chosen, deny: denyRules(protects, chosen), skipsProject: settings.told.length > 0 };
}

function crashed(error: unknown): StepOutcome {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', failure: { kind: 'crashed', message }, account: FREE };
}
