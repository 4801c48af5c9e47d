/**
 * INV-22: No code outside of this folder knows a flag, a message or a file of Claude Code.
 *
 * Executes prompt states with Claude Code.
 */
import { availableParallelism } from 'node:os';
import type { OwnFile } from '../../files/own-file.ts';
import type { ConfiguredAgent } from '../../model/configured-agent.ts';
import type { Executor, Live } from '../../ports.ts';
import { type Approvals, unapprovedSettings } from '../agents/project-settings.ts';
import type { Protected } from '../agents/protected-files.ts';
import type { LaunchedProcess } from '../process/index.ts';
import { confinementFor } from '../rights/confined.ts';
import { withOwn } from '../rights/confinement.ts';
import { tailIfReadable } from '../steps/file-text.ts';
import { writePrompt } from '../steps/step-folder.ts';
import { gate, type Place, placeUntil } from '../turn/gate.ts';
import { failed, INTERRUPTED } from '../turn/outcomes.ts';
import {
  type Begun,
  isDisplaced,
  type Turn,
  type Turning,
  turnExecutor,
} from '../turn/turn-executor.ts';
import { type ClaudeStep, readChoices } from './choices.ts';
import { send, userMessage } from './command.ts';
import { denyRules } from './deny-rules.ts';
import { CLAUDE_SETTINGS } from './folder-trust.ts';
import { type FollowedTurn, followTurn } from './follow-turn.ts';
import { type Launcher, launchTurn, sendWarm } from './launch-turn.ts';
import { claudeNeeds } from './needs.ts';
import { ownModels } from './own-model.ts';
import { readTurn, sessionNotesIn, type TurnFile } from './records.ts';
import { reportOf } from './report.ts';
import { transcriptsIn } from './transcripts.ts';
import { claudeTravel } from './travel.ts';
import { TurnPermissions } from './turn-permissions.ts';
import { TurnWords } from './turn-words.ts';
import { endInOrder, type Warm, type WarmProcess, warmProcesses } from './warm.ts';

interface ClaudeOptions
  extends Pick<Launcher, 'path' | 'environment' | 'processes' | 'agentOptions'> {
  /** The run's folder for notes about its sessions. */
  readonly sessionsFolder: string;
  readonly protects: Protected;
  readonly approvals: Approvals;
  /** The maximum number of processes, including those that wait for their next prompt. */
  readonly mostProcesses: number;
  /** What the user says about its needs in a sandbox. */
  readonly own?: ConfiguredAgent | undefined;
}

export function claudeExecutor(options: ClaudeOptions): Executor {
  const { environment, processes, sessionsFolder, agentOptions, mostProcesses } = options;
  const warm = warmProcesses();
  const claude: Claude = {
    ...options,
    transcripts: transcriptsIn(environment),
    notes: sessionNotesIn(processes.seals, sessionsFolder),
    ownModel: ownModels(processes, agentOptions),
    warm,
    complaints: new Set(),
    places: gate(mostProcesses, (waiting) => warm.makeRoom(waiting)),
    starts: gate(availableParallelism()),
  };
  return turnExecutor({
    name: 'claude',
    processes,
    factsIn: (folder) => readTurn(processes.seals, folder),
    turn: (turning) => claudeTurn(claude, chosen(claude, turning), turning),
    close: () => warm.close(),
    travel: claudeTravel(claude),
  });
}

interface Claude extends ClaudeOptions, Launcher {
  readonly warm: Warm;
  /** Lines of standard error, each shown once per run. They often explain why the agent cannot work. */
  readonly complaints: Set<string>;
}

function chosen({ protects, approvals, environment, own }: Claude, { step }: Turning): ClaudeStep {
  const choices = { ...step, ...readChoices(step.choices) };
  const settings = unapprovedSettings({ projectSettings: CLAUDE_SETTINGS }, step.cwd, approvals);
  const isFilling = step.writes?.kind === 'fill';
  return {
    ...choices,
    // A model that fills placeholders works in no project, and only once.
    ...(isFilling && { cwd: step.taskFolder, warm: false, asksPermissions: false }),
    deny: denyRules(protects, choices),
    confine: () => confinementFor(step, protects, withOwn(claudeNeeds(environment), own)),
    skipsProject: settings.told.length > 0,
  };
}

function claudeTurn(claude: Claude, step: ClaudeStep, turning: Turning): Turn<TurnFile> {
  let place: Place | undefined;
  /** Absent while an adopted turn is followed: it is not used for another one. */
  let process: WarmProcess | undefined;
  const permissions = new TurnPermissions({
    ask: (asking) => {
      // Only a process that Raymond can write to waits for a reply.
      if (turning.launched?.fifo ?? turning.launched?.stdin) turning.ask?.(asking);
    },
    send: (line) => {
      if (turning.launched) send(turning.launched, line);
    },
    onRest: (isResting) => (isResting ? place?.rest() : place?.work()),
    onGranted: (rules) => {
      for (const rule of rules) process?.granted.add(rule);
    },
  });
  const words = new TurnWords({
    send: (id, text) => {
      if (turning.launched) send(turning.launched, userMessage(text, id));
    },
    onHeard: (id) => turning.ask?.({ kind: 'heard', words: id }),
    onLate: () => void turning.launched?.stop(),
  });
  const begun = (
    launched: LaunchedProcess,
    turn: TurnFile,
    more: Pick<Begun<FollowedTurn>, 'keep'> & { untilExit: boolean; onInit?: () => void },
  ): Begun<FollowedTurn> => ({
    launched,
    process: turn.process,
    follow: () => followTurn({ turning, launched, turn, permissions, words, ...more }),
    keep: more.keep,
    report: (followed, how) => reportOf(claude, step, turn, followed, how, words),
  });
  return {
    permissions,
    say: (id, text) => words.say(id, text),
    async begin() {
      const waiting = await claude.warm.acquire(step);
      if (turning.isStopped) {
        if (waiting) claude.warm.keep(step.agent, waiting);
        return INTERRUPTED;
      }
      if (waiting) turning.serve(waiting.launched);
      const isReadable = waiting && !isDisplaced(waiting.launched, turning.live);
      const sent = isReadable && (await sendWarm(claude, waiting, step));
      if (waiting && !sent) await endInOrder(waiting);
      const launched = sent || (await launchTurn(claude, step, () => turning.isStopped));
      if (launched === 'stopped') return INTERRUPTED;
      if ('failure' in launched) return failed(launched.failure);
      writePrompt(step.folder, step.prompt);
      const { process: ours, turn, onInit } = launched;
      process = ours;
      place = ours.place;
      return begun(ours.launched, turn, {
        onInit,
        untilExit: !step.warm,
        keep: (followed, isMoved) => {
          const { outcome, exit, offset, totalUsd } = followed;
          showComplaints(claude, ours.launched.stderr, turning.live);
          ours.offset = offset;
          ours.totalUsd = totalUsd ?? ours.totalUsd;
          ours.spentUsd += outcome.cost.usd;
          const canServe =
            step.warm && outcome.kind === 'answered' && !exit && !isMoved && !turning.isStopped;
          const isKept = canServe && claude.places.waiting === 0;
          if (isKept) claude.warm.keep(step.agent, ours);
          return isKept;
        },
      });
    },
    async adopt(turn, launched) {
      place = placeUntil(launched.ended, claude.places, claude.places.count());
      sendAgain(launched, step, turn);
      return begun(launched, turn, { untilExit: true, keep: () => false });
    },
  };
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

function showComplaints({ complaints }: Claude, file: OwnFile, live: (live: Live) => void): void {
  const lines = tailIfReadable(file).split('\n');
  for (const line of lines.map((each) => each.trim().slice(0, 300))) {
    if (line === '' || complaints.has(line) || complaints.size >= MAX_COMPLAINTS) continue;
    complaints.add(line);
    live({ kind: 'note', text: `Claude Code says: ${line}` });
  }
}

const MAX_COMPLAINTS = 20;
