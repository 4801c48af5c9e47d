/** A process of an agent, and the sessions that are open in it. */
import { randomBytes } from 'node:crypto';
import type { ConfiguredAgent, Prices } from '../../model/configured-agent.ts';
import type { Failure } from '../../model/failure.ts';
import type { Usage } from '../../model/step-account.ts';
import type { ChosenStep } from '../agents/agent-choices.ts';
import { agentEnvironment } from '../agents/environment.ts';
import type { Program } from '../agents/out-of-sight.ts';
import type { Approvals } from '../agents/project-settings.ts';
import type { Protected } from '../agents/protected-files.ts';
import {
  type Launch,
  type LaunchedProcess,
  makeFifo,
  type RunProcesses,
} from '../process/index.ts';
import type { Confinement } from '../rights/confinement.ts';
import { writeTurnFile } from '../turn/turn-file.ts';
import { Connection } from './connection.ts';
import type { KnownAgent } from './known.ts';
import { initializeParams, readAbilities, VERSION } from './protocol.ts';
import type { Abilities, Own, SessionSettings, TurnFile } from './records.ts';

/** A step with the choices for it. */
export interface AcpStep extends ChosenStep {
  /** The settings of the project are not loaded. */
  readonly skipsProject: boolean;
  /** Its process does not see the keys of the user. */
  readonly hidesKeys: boolean;
  /** Only a new process needs it. Undefined if it may do everything that the user may. */
  readonly confine: () => Confinement | undefined;
}

/** An agent, and what its processes need. */
export type AcpOptions = Pick<KnownAgent, 'command'> &
  Partial<KnownAgent> & {
    readonly name: string;
    readonly prices: Prices;
    readonly environment: NodeJS.ProcessEnv;
    readonly processes: RunProcesses;
    /** The run's folder for notes about its sessions. */
    readonly sessionsFolder: string;
    readonly protects: Protected;
    readonly approvals: Approvals;
    /** What the user says about its needs in a sandbox. */
    readonly own?: ConfiguredAgent | undefined;
  };

export interface AgentProcess {
  readonly launched: LaunchedProcess;
  readonly folder: string;
  readonly connection: Connection;
  readonly abilities: Abilities;
  /** The variables of its steps, and what it may load and see. */
  readonly environment: string;
  /** By the ids of the agent. */
  readonly sessions: Map<string, OpenSession>;
  /** A process that dies while it waits would lose the next prompt. */
  hasEnded: boolean;
}

export interface OpenSession {
  readonly cwd: string;
  settings: SessionSettings;
  /** Its settings before Raymond named others. */
  readonly own: Own;
  /** The totals that have been counted. */
  countedUsd: number | undefined;
  countedUsage: Usage | undefined;
  /** The agent has no messages of it. */
  isEmpty: boolean;
}

/** The turn cannot begin. */
export class Unable extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Rejects with `Disconnected`, `Refused` or `Unable`. */
export async function launchProcess(
  options: AcpOptions,
  step: AcpStep,
  program: string,
  hide: (program: Program) => Program,
  onLaunched: (launched: LaunchedProcess) => void,
): Promise<AgentProcess> {
  const { name, command, environment, processes, losesSessions } = options;
  const { folder } = step;
  const turn: TurnFile = { acp: name, process: folder };
  writeTurnFile(processes.seals, folder, turn);
  const launched = await launchAgent(processes, {
    folder,
    ...hide({
      command: program,
      args: [...command.slice(1), ...folderArguments(options, step.taskFolder)],
    }),
    cwd: step.cwd,
    env: environmentFor(options, environment, step),
    confine: step.confine(),
  });
  onLaunched(launched);
  const connection = new Connection(launched);
  const abilities = {
    ...readAbilities(await connection.request('initialize', initializeParams(), ANSWER_MS)),
    ...(losesSessions && { load: false, resume: false }),
  };
  if (abilities.version !== VERSION)
    throw new Unable({
      kind: 'refused',
      message: `${name} speaks version ${abilities.version} of the Agent Client Protocol, and Raymond speaks version ${VERSION}. Install another version of the agent.`,
    });
  return processOf({ launched, folder, connection, abilities }, step);
}

/** With a FIFO, a conversation outlives this process. Windows has none. */
export async function launchAgent(
  processes: RunProcesses,
  wanted: Omit<Launch, 'stdin'>,
): Promise<LaunchedProcess> {
  const hasFifo = process.platform !== 'win32';
  if (hasFifo) await makeFifo(wanted.folder);
  return processes.launch({ ...wanted, stdin: hasFifo ? 'fifo' : 'pipe' });
}

/** Only the executor steers an agent, so its variables come last. */
export function environmentFor(
  { password, permissions, skipping, variables }: Partial<KnownAgent>,
  environment: NodeJS.ProcessEnv,
  step?: Pick<AcpStep, 'environment' | 'skipsProject' | 'taskFolder'>,
): Readonly<Record<string, string>> {
  return {
    ...variables,
    ...agentEnvironment(environment),
    ...step?.environment,
    ...(step && permissions?.variables?.(step.taskFolder)),
    ...(step?.skipsProject && skipping?.variables),
    ...(password !== undefined && { [password]: randomBytes(32).toString('hex') }),
  };
}

function folderArguments({ permissions }: AcpOptions, folder: string): readonly string[] {
  const { folderOption: option } = permissions ?? {};
  return option === undefined ? [] : [option, folder];
}

/** A process with the variables of a step, which can get its first session. */
export function processOf(
  parts: Pick<AgentProcess, 'launched' | 'folder' | 'connection' | 'abilities'>,
  step: AcpStep,
): AgentProcess {
  const made: AgentProcess = {
    ...parts,
    environment: environmentKey(step),
    sessions: new Map(),
    hasEnded: false,
  };
  void parts.connection.over.then(() => {
    made.hasEnded = true;
  });
  return made;
}

/** How long an agent may take for a request that needs no model. */
export const ANSWER_MS = 180_000;

export function environmentKey(step: AcpStep): string {
  const { environment, skipsProject, hidesKeys, cwd, rights } = step;
  return JSON.stringify([
    ...[Object.entries(environment).sort(), skipsProject, hidesKeys],
    // The protected files stay those of its first prompt.
    ...(rights ? [cwd, rights.taskFolder, rights.write, rights.hide, rights.network] : []),
  ]);
}

/** Whether a later process can continue the sessions of this one. */
export function canLoad({ load, resume }: Abilities): boolean {
  return load || resume;
}

/**
 * A process can have several sessions, so it also serves calls, returns and resets. A repeated step may
 * repeat what the process did wrong.
 */
export function canServe({ abilities, environment }: AgentProcess, step: AcpStep): boolean {
  const isUsual = step.warm && step.previousFolder === undefined;
  return (isUsual || !canLoad(abilities)) && environment === environmentKey(step);
}

/** The protocol has no message for this. Agents keep their sessions in files after each message. */
export async function endProcess({ launched, hasEnded }: AgentProcess): Promise<void> {
  await (hasEnded ? launched.endLeftovers() : launched.stop(END_GRACE_MS));
}

export const END_GRACE_MS = 2_000;
