/**
 * The turn of an agent, for all agents: it begins, is followed and settles. It can be stopped, left to a
 * later Raymond process, and adopted by that one. An agent is a `Dialect`: how a turn begins, what its
 * messages mean, and how it ends.
 *
 *   start ──> begin ──┐
 *                     ├──> follow ──> keep the process, or end it ──> report ──> settle
 *   adopt ──> adopt ──┘       └──> left: another Raymond process has the turn
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { displaced } from '../../files/own-file.ts';
import type { Failure } from '../../model/failure.ts';
import { withSpoken } from '../../model/spoken.ts';
import type { Account } from '../../model/step-account.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type {
  AskPerson,
  Executor,
  Live,
  PromptStep,
  RunningStep,
  StepOutcome,
} from '../../ports.ts';
import { type Exit, type LaunchedProcess, type RunProcesses, watchIdle } from '../process/index.ts';
import {
  beginOf,
  recordedRefusals,
  recordedUses,
  warnOfCommandFiles,
  withRecords,
} from '../rights/refusals.ts';
import { answerRef } from '../steps/answer-ref.ts';
import { writeAnswer, writeRawLocation } from '../steps/step-folder.ts';
import { within } from '../within.ts';
import { crashed, ended, failed, INTERRUPTED } from './outcomes.ts';
import type { PermissionRelay } from './permission-relay.ts';
import { foreignStep, type TurnFacts } from './turn-file.ts';

interface Dialect<Facts extends TurnFacts> extends Pick<Executor, 'name' | 'close' | 'travel'> {
  readonly processes: RunProcesses;
  /** The facts about a turn on disk; undefined if there are none, or if another agent took the turn. */
  factsIn(folder: string): Facts | undefined;
  /** A turn that has not begun. May throw for a step that it cannot take. */
  turn(turning: Turning): Turn<Facts>;
}

export interface Turn<Facts extends TurnFacts> {
  /** Absent if the agent never asks. Then a turn cannot be left either. */
  readonly permissions?: Pick<
    PermissionRelay<{ readonly request: string }>,
    'decide' | 'allGiven' | 'isResting'
  >;
  /** The facts are on disk before the agent gets the prompt. An outcome means that it never does. */
  begin(): Promise<Begun | StepOutcome>;
  /** Continues a turn that an earlier Raymond process began. */
  adopt(facts: Facts, launched: LaunchedProcess): Promise<Begun | StepOutcome>;
  /** Asks the agent to end the turn. By default, its process is stopped. */
  cancel?(): void;
  /** Says words of a person during the turn; absent if the agent takes none. */
  say?(id: string, text: string): void;
}

/** A turn whose prompt the agent has, or gets when the turn is followed. */
export interface Begun<F extends Followed = Followed> {
  readonly launched: LaunchedProcess;
  /** The folder of the process. An earlier step may have launched it. */
  readonly process: string;
  follow(): Promise<F>;
  /** Whether the process waits for another prompt. Otherwise it ends now. */
  keep(followed: F, isDisplaced: boolean): boolean;
  /** How long the process may take to end. */
  readonly graceMs?: number;
  /** Says what the turn came to, and keeps notes about its session. */
  report(followed: F, how: How): Report;
  /** Called at the very end, whatever happened. */
  release?(): void;
}

/**
 * In place of a prompt that an earlier attempt has left in the session, for agents that cannot remove a
 * message from one.
 */
const AGAIN =
  'The last turn broke off. Start again with the last request before this note, from its beginning.';

/** The prompt of a repeated turn. Words that came since then are not in the session yet. */
export const promptAgain = ({ newWords }: Pick<PromptStep, 'newWords'>): string =>
  withSpoken(newWords, AGAIN);

/** Who began the turn, and whether it was stopped. */
export type How = 'ours' | 'adopted' | 'stopped';

export interface Followed {
  /** How the process ended; undefined while it runs. */
  readonly exit: Exit | undefined;
  /** It was cancelled because nothing came for too long. */
  readonly silent: boolean;
}

export interface Report {
  readonly end: TurnEnd;
  readonly account: Account;
  /** The part of the output that belongs to the turn; absent if none does. */
  readonly raw?: { readonly from: number; readonly to: number };
  /** It is unknown how the turn ended, so it is repeated or continued. */
  readonly isLost: boolean;
  /** Whether the session has the prompt, so that a turn that was cut short can continue in it. */
  isUsable(): boolean;
}

export type TurnEnd =
  | { readonly kind: 'answered'; readonly text: string; readonly denied: readonly string[] }
  /** It can continue later, for example with more money. */
  | { readonly kind: 'unfinished' }
  /** `isCertain`: silence and stops do not explain it. `remark` follows every message. */
  | {
      readonly kind: 'failed';
      readonly failure: Failure;
      readonly isCertain?: boolean;
      readonly remark?: string;
    };

/** A turn as the frame sees it: what a dialect may ask, and what it has to report. */
export class Turning {
  readonly step: PromptStep;
  readonly live: (live: Live) => void;
  readonly ask: AskPerson | undefined;
  isStopped = false;
  launched: LaunchedProcess | undefined;
  /** Set by the frame. */
  turn: Pick<Turn<TurnFacts>, 'permissions' | 'cancel'> = {};

  constructor(step: PromptStep, live: (live: Live) => void, ask: AskPerson | undefined) {
    this.step = step;
    this.live = live;
    this.ask = ask;
  }

  /** A process serves the turn, so a stop must end it. */
  serve(launched: LaunchedProcess): void {
    this.launched = launched;
    if (this.isStopped) this.cancel();
  }

  cancel(): void {
    if (this.turn.cancel) this.turn.cancel();
    else void this.launched?.stop();
  }

  /** Cancels the turn if its process is silent for too long, unless it waits for a person. */
  watchSilence(launched: LaunchedProcess) {
    const silence = { isSilent: false, end: () => {} };
    silence.end = watchIdle({
      files: [launched.stdout.path, launched.stderr.path],
      idleTimeoutMs: this.step.idleTimeoutMs,
      isResting: () => this.turn.permissions?.isResting ?? false,
      onIdle: () => {
        silence.isSilent = true;
        this.cancel();
      },
    });
    return silence;
  }
}

export function turnExecutor<Facts extends TurnFacts>(dialect: Dialect<Facts>): Executor {
  const { name, processes, travel } = dialect;
  const start: Executor['start'] = (step, live, ask) =>
    running(dialect, new Turning(asPrompt(name, step), live, ask), (turn) => turn.begin());
  return {
    name,
    start,
    adopt: (step, live, ask) => {
      const facts = dialect.factsIn(step.folder);
      const launched = facts && processes.adopt(facts.process);
      const foreign = foreignStep(processes, step, facts, launched, live);
      if (foreign) return foreign;
      // No process began, and none will, so the turn can start now.
      if (!facts || typeof launched !== 'object') return start(step, live, ask);
      const turning = new Turning(asPrompt(name, step), live, ask);
      const adopt = (turn: Turn<Facts>) => turn.adopt(facts, launched);
      return { ...running(dialect, turning, adopt, launched), isAdopted: true };
    },
    close: () => dialect.close(),
    ...(travel && { travel }),
  };
}

function asPrompt(agent: string, step: Parameters<Executor['start']>[0]): PromptStep {
  if (step.kind === 'prompt') return step;
  throw new Error(`Bug: a script was given to ${agent}`);
}

function running<Facts extends TurnFacts>(
  dialect: Dialect<Facts>,
  turning: Turning,
  begin: (turn: Turn<Facts>) => Promise<Begun | StepOutcome>,
  adopted?: LaunchedProcess,
): RunningStep {
  let turn: Turn<Facts>;
  try {
    turn = dialect.turn(turning);
  } catch (error) {
    return ended(crashed(error));
  }
  turning.turn = turn;
  const { permissions } = turn;
  return {
    outcome: take(turning, adopted ? 'adopted' : 'ours', () => begin(turn)).catch(crashed),
    stop: () => {
      turning.isStopped = true;
      turning.cancel();
    },
    ...(turn.say && { say: (id, text) => turn.say?.(id, text) }),
    ...(permissions && {
      decide: (request, decision) => permissions.decide(request, decision),
      leave: () => void leave(turning.launched ?? adopted, permissions),
    }),
  };
}

async function take(
  turning: Turning,
  whose: 'ours' | 'adopted',
  begin: () => Promise<Begun | StepOutcome>,
): Promise<StepOutcome> {
  // A stop in the same moment comes before the launch.
  await Promise.resolve();
  if (whose === 'ours' && turning.isStopped) return INTERRUPTED;
  const began = Date.now();
  const begun = await begin();
  if ('kind' in begun) return begun;
  const { launched } = begun;
  // The process may have served earlier steps.
  const isOwn = begun.process === turning.step.folder;
  const since = whose === 'adopted' && isOwn ? 0 : began;
  try {
    turning.serve(launched);
    const followed = await begun.follow();
    const isMoved = isDisplaced(launched, turning.live);
    // Another Raymond process follows the turn, and keeps notes about its session.
    if (followed.exit?.kind === 'left') return INTERRUPTED;
    // What the tools of the agent left running is ended, too, even if the agent was killed.
    if (!begun.keep(followed, isMoved))
      await (followed.exit ? launched.endLeftovers() : launched.stop(begun.graceMs));
    const how = turning.isStopped ? 'stopped' : whose;
    const outcome = settle(turning.step, begun.process, followed, begun.report(followed, how), how);
    const { step } = turning;
    if (!step.rights) return outcome;
    const beganMs = whose === 'adopted' ? beginOf(step.folder) : began;
    warnOfCommandFiles(step, beganMs, turning.live);
    const used = recordedUses(begun.process, since, step);
    return withRecords(outcome, recordedRefusals(begun.process, since), used);
  } finally {
    begun.release?.();
  }
}

/** Turns what a dialect reports into the outcome of the step. */
function settle(
  step: PromptStep,
  process: string,
  { exit, silent }: Followed,
  { end, account, raw, isLost, isUsable }: Report,
  how: How,
): StepOutcome {
  const { folder, state, idleTimeoutMs, cwd } = step;
  if (raw) writeRawLocation(folder, { file: join(process, STEP_FILES.stdout.name), ...raw });
  if (end.kind === 'answered') {
    // The decision must use the text that is kept, in which half characters are replaced.
    const text = Buffer.from(end.text).toString('utf8');
    writeAnswer(folder, text);
    return { kind: 'answered', output: text, answer: answerRef(text), denied: end.denied, account };
  }
  if (end.kind === 'unfinished') return { kind: 'interrupted', sessionUsable: true, account };
  const failure = (found: Failure) =>
    failed({ ...found, message: `${found.message}${end.remark ?? ''}` }, account);
  if (end.isCertain) return failure(end.failure);
  if (silent) {
    const message = `${state} was silent for ${idleTimeoutMs / 1000} s and was stopped.`;
    return failure({ kind: 'idle', message });
  }
  if (how === 'stopped' || isLost)
    return { kind: 'interrupted', sessionUsable: isUsable(), account };
  return failure(exit?.kind === 'unstarted' ? unstarted(exit.reason, cwd) : end.failure);
}

/** Why no process of the agent could be created. */
export function unstarted(reason: string, cwd: string): Failure {
  return { kind: existsSync(cwd) ? 'no-executable' : 'bad-directory', message: reason };
}

/**
 * Leaves a turn to a later process, which adopts it. A process that cannot be adopted is stopped. An adopted
 * turn is read again first, so that it gets the decisions that have been made.
 */
async function leave(
  launched: LaunchedProcess | undefined,
  permissions: { allGiven(): Promise<void> },
): Promise<void> {
  if (!launched?.fifo) {
    await launched?.stop();
    return;
  }
  await within(Promise.race([permissions.allGiven(), launched.ended]), READ_MS);
  launched.leave?.();
}

/** How long the output of a turn may take to be read again. Decisions that are not given stay recorded. */
const READ_MS = 10_000;

/**
 * Whether the output of a process is no longer where Raymond made it. Its open file is still read, but
 * the person has to know. They are told once, however many turns the process takes.
 */
export function isDisplaced(launched: LaunchedProcess, live: (live: Live) => void): boolean {
  const { identity, stdout, stderr } = launched;
  // A process that never began has no files.
  const problems = identity
    ? [displaced(stdout), displaced(stderr)].filter((text) => text !== undefined)
    : [];
  if (problems.length === 0) return false;
  if (!told.has(launched)) for (const text of problems) live({ kind: 'warning', text });
  told.add(launched);
  return true;
}

const told = new WeakSet<LaunchedProcess>();
