/**
 * Executes prompt states with an agent that speaks the Agent Client Protocol. No code outside of this
 * folder knows a message of the protocol.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { attempt } from '../../model/attempt.ts';
import type { ConfinedTo, Executor, PromptStep, StepOutcome } from '../../ports.ts';
import { mayEdit, readChoices, type SharedChoices } from '../agents/agent-choices.ts';
import { findAcp } from '../agents/find-program.ts';
import { asItIs, keyHider, type Program } from '../agents/out-of-sight.ts';
import {
  APPROVE,
  insistedFact,
  type Skipped,
  unapprovedSettings,
} from '../agents/project-settings.ts';
import { protection } from '../agents/protected-files.ts';
import type { LaunchedProcess } from '../process/index.ts';
import { confinementFor } from '../rights/confined.ts';
import { type Confinement, NO_NEEDS, withOwn } from '../rights/confinement.ts';
import { writePrompt } from '../steps/step-folder.ts';
import { type Gate, gate } from '../turn/gate.ts';
import { failed, INTERRUPTED } from '../turn/outcomes.ts';
import {
  type Begun,
  isDisplaced,
  promptAgain,
  type Turn,
  type Turning,
  turnExecutor,
} from '../turn/turn-executor.ts';
import { writeTurnFile } from '../turn/turn-file.ts';
import { WarmProcesses } from '../turn/warm-processes.ts';
import {
  type AcpOptions,
  type AcpStep,
  type AgentProcess,
  canLoad,
  canServe,
  END_GRACE_MS,
  endProcess,
  launchProcess,
  processOf,
  Unable,
} from './agent-process.ts';
import { Connection, Disconnected, Refused } from './connection.ts';
import { projectSettingsOf } from './declaration.ts';
import { failureOf } from './failures.ts';
import { type FollowedTurn, followTurn } from './follow-turn.ts';
import { openSession, type TurnSession } from './open-session.ts';
import { promptParams, requestLine } from './protocol.ts';
import {
  readTurn,
  type SentPrompt,
  type SessionNotes,
  sessionNotesIn,
  type TurnFile,
} from './records.ts';
import { reportOf, withoutAnswer } from './report.ts';
import { TurnPermissions } from './turn-permissions.ts';

export function acpExecutor(options: AcpOptions): Executor {
  const { name, processes, sessionsFolder, startsAlone, approvals, environment } = options;
  const projectSettings = projectSettingsOf(options);
  const acp: Acp = {
    ...options,
    notes: sessionNotesIn(processes.seals, sessionsFolder, name),
    warm: new WarmProcesses({
      canServe,
      // Two processes must not use a session at the same time.
      collides: () => true,
      end: endProcess,
      // Without a way to load them, its sessions would be lost.
      isNeeded: ({ abilities }) => !canLoad(abilities),
    }),
    hideKeys: keyHider(environment),
    starts: gate(startsAlone ? 1 : availableParallelism()),
    skipped: (directory) => unapprovedSettings({ projectSettings }, directory, approvals),
  };
  return turnExecutor({
    name,
    processes,
    factsIn: (folder) => readTurn(processes.seals, folder, name),
    turn: (turning) => acpTurn(acp, turning),
    close: () => acp.warm.close(),
  });
}

interface Acp extends AcpOptions {
  readonly notes: SessionNotes;
  readonly warm: WarmProcesses<AgentProcess, AcpStep>;
  readonly hideKeys: ReturnType<typeof keyHider>;
  /** Limits how many processes start at the same time: more would slow each other down. */
  readonly starts: Gate;
  /** The settings of the project in a directory that the user has not approved. */
  readonly skipped: (directory: string) => Skipped;
}

/** A turn, with what a cancellation needs. */
interface Context {
  readonly acp: Acp;
  readonly step: AcpStep;
  readonly turning: Turning;
  readonly permissions: TurnPermissions;
  /** Present while the agent works on the prompt. */
  talking: { readonly connection: Connection; readonly session: string } | undefined;
}

function acpTurn(acp: Acp, turning: Turning): Turn<TurnFile> {
  const choices = readChoices(acp.name, turning.step.choices);
  const rights = rightsOf(acp, turning.step, choices);
  const step: AcpStep = {
    ...turning.step,
    ...choices,
    skipsProject: acp.skipped(turning.step.cwd).told.length > 0,
    hidesKeys: acp.readsUnasked === true && !choices.skipPermissions && !turning.step.rights,
    rights,
    confine: () => confinementOf(acp, turning.step.cwd, rights),
  };
  const permissions = new TurnPermissions({
    ask: turning.ask,
    asksPerson: step.asksPermissions,
    asksWhole: acp.permissions?.asksWhole ?? false,
    granted: step.granted,
    caller: { name: acp.name, cwd: step.cwd },
    limits: { ...step, ...protection(acp.protects, step) },
    answer: (id, result) => context.talking?.connection.answer(id, result),
    live: turning.live,
  });
  const context: Context = { acp, step, turning, permissions, talking: undefined };
  return {
    permissions,
    begin: () => begin(context),
    adopt: (turn, launched) => adopt(context, turn, launched),
    cancel: () => cancel(context),
  };
}

/** In a mode without edits, its own sandbox would allow no writing. */
function rightsOf(
  { hasSandbox }: Acp,
  { rights }: PromptStep,
  choices: SharedChoices,
): ConfinedTo | undefined {
  const isReading = hasSandbox && !choices.skipPermissions && !mayEdit(choices);
  return rights && isReading ? { ...rights, write: [...rights.write, []] } : rights;
}

function confinementOf(
  { protects, environment, needs, own }: Acp,
  cwd: string,
  rights: ConfinedTo | undefined,
): Confinement | undefined {
  if (!rights) return undefined;
  const all = withOwn(needs?.(environment) ?? NO_NEEDS, own);
  // It could not create them in a folder that it may not change.
  for (const folder of all.writes)
    if (!existsSync(folder)) attempt(() => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  return confinementFor({ cwd, rights }, protects, all);
}

/** The agent gets some time to end the turn, so that its session stays whole and its cost is reported. */
function cancel({ acp, turning: { launched }, talking, permissions }: Context): void {
  // Another process follows the turn, and would see it end without a reason.
  if (acp.processes.isLeft) return;
  if (!talking) {
    void launched?.stop();
    return;
  }
  permissions.cancel();
  talking.connection.notify('session/cancel', { sessionId: talking.session });
  const timer = setTimeout(() => void launched?.stop(), CANCEL_MS);
  void launched?.ended.then(() => clearTimeout(timer));
}

const CANCEL_MS = 3_000;

async function begin(context: Context): Promise<Begun<FollowedTurn> | StepOutcome> {
  const { acp, step, turning } = context;
  const { insisted } = acp.skipped(step.cwd);
  if (insisted.length > 0)
    return failed({ kind: 'refused', message: `${insistedFact(acp.name, insisted)} ${APPROVE}` });
  const waiting = await acp.warm.acquire(step);
  const isMissing = !existsSync(step.cwd);
  if (turning.isStopped || isMissing) {
    if (waiting) acp.warm.keep(step.agent, waiting);
    if (turning.isStopped) return INTERRUPTED;
    const message = `There is no folder ${step.cwd} to run ${acp.name} in. Create it, or name another folder.`;
    return failed({ kind: 'bad-directory', message });
  }
  if (waiting) turning.serve(waiting.launched);
  const leaveStart = waiting ? () => {} : await acp.starts.enter();
  try {
    if (turning.isStopped) return INTERRUPTED;
    const process = waiting ?? (await launched(context));
    return begun(context, process, await openSession(acp, acp.notes, process, step));
  } catch (error) {
    return await notBegun(context, error);
  } finally {
    leaveStart();
  }
}

async function launched(context: Context): Promise<AgentProcess> {
  const { acp, step, turning } = context;
  const executable = findAcp(acp.name, acp, acp.environment);
  if (executable.found)
    return launchProcess(acp, step, executable.path, await hiding(context), (started) =>
      turning.serve(started),
    );
  const message = `${executable.problem} ${executable.remedy}`;
  throw new Unable({ kind: 'no-executable', message });
}

/** The process may take turns of other agents of the run, so it sees their folders too. */
async function hiding({ acp, step, turning }: Context): Promise<(program: Program) => Program> {
  if (!step.hidesKeys) return asItIs;
  const opens = [dirname(step.taskFolder), acp.protects.projectFolder];
  const sight = { hides: [acp.protects.userFolder], opens, cwd: step.cwd };
  return acp.hideKeys(sight, (text) => turning.live({ kind: 'note', text }));
}

/** The turn has cost nothing yet. */
async function notBegun({ acp, step, turning }: Context, error: unknown): Promise<StepOutcome> {
  const { launched, live } = turning;
  if (launched) isDisplaced(launched, live);
  await launched?.stop();
  const exit = await launched?.ended;
  if (turning.isStopped || exit?.kind === 'left') return INTERRUPTED;
  if (error instanceof Unable) return failed(error.failure);
  if (error instanceof Refused)
    return failed(failureOf({ name: acp.name, logins: [] }, error.error, Date.now()));
  if (error instanceof Disconnected && launched)
    return failed(withoutAnswer(acp, exit, launched.stderr, step.cwd, error.message));
  throw error;
}

function begun(
  context: Context,
  process: AgentProcess,
  { id, open, beforeUsd, beforeUsage }: TurnSession,
): Begun<FollowedTurn> {
  const { acp, step } = context;
  const { connection, abilities, folder } = process;
  const { seals } = acp.processes;
  const model = open.settings.model?.current;
  const prompt: SentPrompt = {
    id: connection.newId(),
    session: id,
    offset: connection.offset,
    isSent: false,
    ...(model !== undefined && { model }),
    own: open.own,
    beforeUsd,
    ...(beforeUsage && { beforeUsage }),
    canLoad: canLoad(abilities),
    isFirst: open.isEmpty,
  };
  const known = { abilities, settings: open.settings };
  const turn: TurnFile = { acp: acp.name, process: folder, prompt, known };
  writeTurnFile(seals, step.folder, turn);
  const words = open.isEmpty ? step.prompt : promptOf(acp, step);
  writePrompt(step.folder, words);
  const send = async () => {
    await connection.send(requestLine(prompt.id, 'session/prompt', promptParams(id, words)));
    writeTurnFile(seals, step.folder, { ...turn, prompt: { ...prompt, isSent: true } });
  };
  return following(context, process, prompt, send);
}

/** The turn of a process, whoever sent the prompt. */
function following(
  context: Context,
  process: Pick<AgentProcess, 'launched' | 'folder' | 'connection'> & Partial<AgentProcess>,
  prompt: SentPrompt,
  send?: () => Promise<void>,
): Begun<FollowedTurn> {
  const { acp, step, turning, permissions } = context;
  const { launched, folder, connection, abilities } = process;
  context.talking = { connection, session: prompt.session };
  return {
    launched,
    process: folder,
    graceMs: END_GRACE_MS,
    async follow() {
      const watch = { turning, launched, connection, prompt, permissions, ...(send && { send }) };
      const followed = await followTurn(acp, watch);
      context.talking = undefined;
      return followed;
    },
    keep(followed) {
      const { record } = followed;
      const open = process.sessions?.get(prompt.session);
      if (open) {
        open.countedUsd = record.totalUsd ?? open.countedUsd;
        open.countedUsage = record.totalUsage ?? open.countedUsage;
        open.isEmpty = false;
      }
      const isKept = isWhole(process) && isKeptAfter(context, process, followed);
      if (isKept) acp.warm.keep(step.agent, process);
      return isKept;
    },
    report: (followed, how) => {
      const memory = { ...acp, logins: abilities?.logins ?? [] };
      return reportOf(memory, { step, prompt, stderr: launched.stderr, followed, how });
    },
  };
}

const isWhole = (process: Partial<AgentProcess>): process is AgentProcess =>
  process.abilities !== undefined;

/** An agent that cannot load sessions needs its process for as long as the session is needed. */
function isKeptAfter(
  { step, turning }: Context,
  { abilities, hasEnded }: AgentProcess,
  { exit, silent, isGivenUp, end, fault }: FollowedTurn,
): boolean {
  if (turning.isStopped || hasEnded || exit || silent || isGivenUp || end.kind === 'none')
    return false;
  return !canLoad(abilities) || (step.warm && end.kind === 'result' && fault === undefined);
}

async function adopt(
  context: Context,
  { process: folder, prompt, known }: TurnFile,
  launched: LaunchedProcess,
): Promise<Begun<FollowedTurn> | StepOutcome> {
  const { step, turning } = context;
  turning.launched = launched;
  // Nothing was sent. A session that was opened is not used.
  if (!prompt) {
    await launched.stop();
    return INTERRUPTED;
  }
  const connection = new Connection(launched, prompt.offset, prompt.id + FREE_IDS);
  if (!known) return following(context, { launched, folder, connection }, prompt);
  const { abilities, settings } = known;
  const process = processOf({ launched, folder, connection, abilities }, step);
  const { session, own, beforeUsd, beforeUsage } = prompt;
  process.sessions.set(session, {
    ...{ cwd: step.cwd, settings, own, isEmpty: false },
    ...{ countedUsd: beforeUsd, countedUsage: beforeUsage },
  });
  return following(context, process, prompt);
}

/** The earlier process may have sent some requests after the prompt. */
const FREE_IDS = 1_000;

/** An earlier attempt may have left its prompt in the session. */
function promptOf({ name, processes }: Acp, step: AcpStep): string {
  const { prompt, session, previousFolder } = step;
  if (session.use !== 'continue' || previousFolder === undefined) return prompt;
  return readTurn(processes.seals, previousFolder, name)?.prompt?.isSent
    ? promptAgain(step)
    : prompt;
}
