/**
 * Executes prompt states with an agent that speaks the Agent Client Protocol. No code outside of this
 * folder knows a message of the protocol.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { type Account, NO_COST } from '../../model/step-account.ts';
import type { AskPerson, Executor, Live, RunningStep, Step, StepOutcome } from '../../ports.ts';
import { readChoices } from '../agent-choices.ts';
import { isDisplaced } from '../displaced-output.ts';
import { foreignStep } from '../foreign-step.ts';
import { type Gate, gate } from '../gate.ts';
import { fields } from '../json.ts';
import { leaveTurn } from '../leave-turn.ts';
import { asItIs, keyHider, type Program } from '../out-of-sight.ts';
import type { LaunchedProcess } from '../process/index.ts';
import { APPROVE, insistedFact, type Skipped, unapprovedSettings } from '../project-settings.ts';
import { protection } from '../protected-files.ts';
import { writePrompt } from '../step-folder.ts';
import {
  type AcpOptions,
  type AcpStep,
  type AgentProcess,
  canLoad,
  launchProcess,
  processOf,
  Unable,
} from './agent-process.ts';
import { Connection, Disconnected, Refused } from './connection.ts';
import { usageIn } from './cost.ts';
import { projectSettingsOf } from './declaration.ts';
import { findAcp } from './executable.ts';
import { failureOf } from './failures.ts';
import { type FollowedTurn, followTurn } from './follow-turn.ts';
import { openSession, type TurnSession } from './open-session.ts';
import { promptParams, requestLine } from './protocol.ts';
import { type SessionNotes, sessionNotesIn } from './session-notes.ts';
import { type Memory, settle, withoutAnswer } from './settle.ts';
import { stated } from './statement.ts';
import { readTurn, type SentPrompt, type TurnFile, writeTurn } from './turn-file.ts';
import { TurnPermissions } from './turn-permissions.ts';
import { TurnRecord } from './turn-record.ts';
import { endProcess, WarmProcesses } from './warm.ts';

export function acpExecutor(options: AcpOptions): Executor {
  const { name, processes } = options;
  const acp: Acp = {
    ...options,
    notes: sessionNotesIn(processes.seals, options.sessionsFolder, name),
    warm: new WarmProcesses(),
    hideKeys: keyHider(options.environment),
    starts: gate(options.startsAlone ? 1 : availableParallelism()),
    skipped: (directory) =>
      unapprovedSettings(
        { projectSettings: projectSettingsOf(options) },
        directory,
        options.approvals,
      ),
  };
  const start = (step: Step, live: Show, ask?: AskPerson) =>
    controlled(acp, step, live, ask, runTurn);
  return {
    name,
    start,
    adopt: (step, live, ask) => {
      const turn = readTurn(processes.seals, step.folder, name);
      const launched = turn && processes.adopt(turn.process);
      const foreign = foreignStep(processes, step, turn, launched, live);
      if (foreign) return foreign;
      // No process began, and none will, so the turn can start now.
      if (!turn || typeof launched !== 'object') return start(step, live, ask);
      const running = controlled(acp, step, live, ask, (turning) =>
        adoptTurn(turning, turn, launched),
      );
      return { ...running, isAdopted: true };
    },
    close: () => acp.warm.close(),
  };
}

interface Acp extends AcpOptions {
  readonly notes: SessionNotes;
  readonly warm: WarmProcesses;
  readonly hideKeys: ReturnType<typeof keyHider>;
  /** Limits how many processes start at the same time: more would slow each other down. */
  readonly starts: Gate;
  /** The settings of the project in a directory that the user has not approved. */
  readonly skipped: (directory: string) => Skipped;
}

type Show = (live: Live) => void;

/** A turn, and what connects a stop and decisions to it. */
interface Turning {
  readonly acp: Acp;
  readonly step: AcpStep;
  readonly live: Show;
  readonly permissions: TurnPermissions;
  stopped: boolean;
  launched: LaunchedProcess | undefined;
  /** Present while the agent works on the prompt. */
  talking: { readonly connection: Connection; readonly session: string } | undefined;
}

function controlled(
  acp: Acp,
  given: Step,
  live: Show,
  ask: AskPerson | undefined,
  run: (turning: Turning) => Promise<StepOutcome>,
): RunningStep {
  const step = chosen(acp, given);
  const permissions = new TurnPermissions({
    ask,
    asksPerson: step.asksPermissions,
    asksWhole: acp.permissions?.asksWhole ?? false,
    granted: step.granted,
    caller: { name: acp.name, cwd: step.cwd },
    limits: { ...step, ...protection(acp.protects, step) },
    answer: (id, result) => turning.talking?.connection.answer(id, result),
    live,
  });
  const turning: Turning = {
    ...{ acp, step, live, permissions },
    stopped: false,
    launched: undefined,
    talking: undefined,
  };
  return {
    outcome: run(turning).catch(crashed),
    stop: () => {
      turning.stopped = true;
      cancel(turning);
    },
    decide: (request, decision) => permissions.relay.decide(request, decision),
    leave: () => void leaveTurn(turning.launched, permissions.relay),
  };
}

/** The agent gets some time to end the turn, so that its session stays whole and its cost is reported. */
function cancel({ acp, launched, talking, permissions }: Turning): void {
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

async function runTurn(turning: Turning): Promise<StepOutcome> {
  const { acp, step } = turning;
  const { insisted } = acp.skipped(step.cwd);
  if (insisted.length > 0) {
    const message = `${insistedFact(acp.name, insisted)} ${APPROVE}`;
    return { kind: 'failed', failure: { kind: 'refused', message }, account: FREE };
  }
  const waiting = await acp.warm.acquire(step);
  if (turning.stopped) {
    if (waiting) acp.warm.keep(step.agent, waiting);
    return NOT_BEGUN;
  }
  if (!existsSync(step.cwd)) {
    if (waiting) acp.warm.keep(step.agent, waiting);
    const message = `There is no folder ${step.cwd} to run ${acp.name} in. Create it, or name another folder.`;
    return { kind: 'failed', failure: { kind: 'bad-directory', message }, account: FREE };
  }
  turning.launched = waiting?.launched;
  let begun: { readonly process: AgentProcess; readonly session: TurnSession };
  const leaveStart = waiting ? () => {} : await acp.starts.enter();
  try {
    if (turning.stopped) return NOT_BEGUN;
    const process = waiting ?? (await launched(turning));
    begun = { process, session: await openSession(acp, acp.notes, process, step) };
  } catch (error) {
    return await notBegun(turning, error);
  } finally {
    leaveStart();
  }
  return takeTurn(turning, begun.process, begun.session);
}

async function launched(turning: Turning): Promise<AgentProcess> {
  const { acp, step } = turning;
  const executable = findAcp(acp.name, acp, acp.environment);
  if (!executable.found) {
    const message = `${executable.problem} ${executable.remedy}`;
    throw new Unable({ kind: 'no-executable', message });
  }
  return launchProcess(acp, step, executable.path, await hiding(turning), (launched) => {
    turning.launched = launched;
    if (turning.stopped) void launched.stop();
  });
}

/** The process may take turns of other agents of the run, so it sees their folders too. */
async function hiding({ acp, step, live }: Turning): Promise<(program: Program) => Program> {
  if (!acp.readsUnasked || step.skipPermissions) return asItIs;
  const opens = [dirname(step.taskFolder), acp.protects.projectFolder];
  const sight = { hides: [acp.protects.userFolder], opens, cwd: step.cwd };
  return acp.hideKeys(sight, (text) => live({ kind: 'note', text }));
}

/** The turn has cost nothing yet. */
async function notBegun(
  { acp, step, launched, stopped, live }: Turning,
  error: unknown,
): Promise<StepOutcome> {
  if (launched) isDisplaced(launched, live);
  await launched?.stop();
  const exit = await launched?.ended;
  if (stopped || exit?.kind === 'left') return NOT_BEGUN;
  const failed = (failure: Unable['failure']): StepOutcome => ({
    kind: 'failed',
    failure,
    account: FREE,
  });
  if (error instanceof Unable) return failed(error.failure);
  if (error instanceof Refused)
    return failed(failureOf({ name: acp.name, logins: [] }, error.error, Date.now()));
  if (error instanceof Disconnected && launched)
    return failed(withoutAnswer(acp, exit, launched.stderr, step.cwd, error.message));
  throw error;
}

async function takeTurn(
  turning: Turning,
  process: AgentProcess,
  { id, open, beforeUsd, beforeUsage }: TurnSession,
): Promise<StepOutcome> {
  const { acp, step } = turning;
  const { connection, folder } = process;
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
    canLoad: canLoad(process.abilities),
    isFirst: open.isEmpty,
  };
  const known = { abilities: process.abilities, settings: open.settings };
  const turn: TurnFile = { acp: acp.name, process: folder, prompt, known };
  writeTurn(acp.processes.seals, step.folder, turn);
  const words = open.isEmpty ? step.prompt : promptOf(acp, step);
  writePrompt(step.folder, words);
  const send = async () => {
    await connection.send(requestLine(prompt.id, 'session/prompt', promptParams(id, words)));
    writeTurn(acp.processes.seals, step.folder, { ...turn, prompt: { ...prompt, isSent: true } });
  };
  const followed = await follow(turning, process.launched, connection, prompt, send);
  if (followed.exit?.kind === 'left') return NOT_BEGUN;
  open.countedUsd = followed.record.totalUsd ?? open.countedUsd;
  open.countedUsage = followed.record.totalUsage ?? open.countedUsage;
  open.isEmpty = false;
  await keepOrEnd(turning, process, followed);
  const memory: Memory = { ...acp, logins: process.abilities.logins };
  const how = turning.stopped ? 'stopped' : 'ours';
  const { launched } = process;
  const { stderr } = launched;
  return settle(memory, { step, prompt, process: folder, stderr, followed, how });
}

async function keepOrEnd(
  turning: Turning,
  process: AgentProcess,
  followed: FollowedTurn,
): Promise<void> {
  if (isKept(turning, process, followed)) turning.acp.warm.keep(turning.step.agent, process);
  else await endProcess({ launched: process.launched, hasEnded: followed.exit !== undefined });
}

/** An agent that cannot load sessions needs its process for as long as the session is needed. */
function isKept(
  { step, stopped }: Turning,
  { abilities, hasEnded }: AgentProcess,
  followed: FollowedTurn,
): boolean {
  const { exit, silent, isGivenUp, end, fault } = followed;
  if (stopped || hasEnded || exit || silent || isGivenUp || end.kind === 'none') return false;
  return !canLoad(abilities) || (step.warm && end.kind === 'result' && fault === undefined);
}

async function adoptTurn(
  turning: Turning,
  { process: folder, prompt, known }: TurnFile,
  launched: LaunchedProcess,
): Promise<StepOutcome> {
  turning.launched = launched;
  // Nothing was sent. A session that was opened is not used.
  if (!prompt) {
    await launched.stop();
    return NOT_BEGUN;
  }
  const connection = new Connection(launched, prompt.offset, prompt.id + FREE_IDS);
  const followed = await follow(turning, launched, connection, prompt);
  if (followed.exit?.kind === 'left') return NOT_BEGUN;
  const { acp, step, stopped } = turning;
  const { session, own, beforeUsd, beforeUsage } = prompt;
  const { settings, abilities } = known ?? { settings: {}, abilities: undefined };
  if (abilities) {
    const process = processOf({ launched, folder, connection, abilities }, step);
    process.sessions.set(session, {
      ...{ cwd: step.cwd, settings, own, isEmpty: false },
      countedUsd: followed.record.totalUsd ?? beforeUsd,
      countedUsage: followed.record.totalUsage ?? beforeUsage,
    });
    await keepOrEnd(turning, process, followed);
  } else await endProcess({ launched, hasEnded: followed.exit !== undefined });
  const memory: Memory = { ...acp, logins: abilities?.logins ?? [] };
  const how = stopped ? 'stopped' : 'adopted';
  const { stderr } = launched;
  return settle(memory, { step, prompt, process: folder, stderr, followed, how });
}

/** The earlier process may have sent some requests after the prompt. */
const FREE_IDS = 1_000;

async function follow(
  turning: Turning,
  launched: LaunchedProcess,
  connection: Connection,
  prompt: SentPrompt,
  send?: () => Promise<void>,
): Promise<FollowedTurn> {
  const { acp, step, live, permissions } = turning;
  turning.talking = { connection, session: prompt.session };
  if (turning.stopped) cancel(turning);
  const followed = await followTurn({
    ...{ launched, connection, prompt, step, permissions },
    record: new TurnRecord(live, acp.adapter?.isRemark),
    ...(send && { send }),
    cancel: () => cancel(turning),
  });
  turning.talking = undefined;
  isDisplaced(launched, live);
  const { record, end } = followed;
  if (acp.countsAllTurns && end.kind === 'result')
    record.state({ totalUsage: usageIn(fields(fields(end.result).usage)) });
  return stated(acp.adapter, launched, connection, prompt.session, followed);
}

/**
 * The protocol cannot remove a message from a session. If an earlier attempt has left its prompt there,
 * it is not sent again.
 */
function promptOf({ name, processes }: Acp, { prompt, session, previousFolder }: AcpStep): string {
  if (session.use !== 'continue' || previousFolder === undefined) return prompt;
  return readTurn(processes.seals, previousFolder, name)?.prompt?.isSent ? AGAIN : prompt;
}

const AGAIN =
  'The last turn broke off. Start again with the last request before this note, from its beginning.';

const FREE: Account = { cost: NO_COST };
const NOT_BEGUN: StepOutcome = { kind: 'interrupted', sessionUsable: false, account: FREE };

function chosen({ name, skipped }: Acp, step: Step): AcpStep {
  if (step.kind !== 'prompt') throw new Error(`Bug: a script was given to ${name}`);
  const skipsProject = skipped(step.cwd).told.length > 0;
  return { ...step, ...readChoices(name, step.choices), skipsProject };
}

function crashed(error: unknown): StepOutcome {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', failure: { kind: 'crashed', message }, account: FREE };
}
