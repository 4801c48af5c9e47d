/**
 * Executes prompt states with codex: one process for each turn. No code outside of this folder knows
 * a flag, a message or a file of codex.
 */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeOwnFile } from '../../files/own-file.ts';
import type { ConfiguredAgent, Prices } from '../../model/configured-agent.ts';
import type { Failure } from '../../model/failure.ts';
import { type Account, NO_COST } from '../../model/step-account.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { Executor } from '../../ports.ts';
import { readChoices } from '../agents/agent-choices.ts';
import { agentEnvironment } from '../agents/environment.ts';
import { asItIs, keyHider, type Program } from '../agents/out-of-sight.ts';
import { type Protected, protection } from '../agents/protected-files.ts';
import { hasPrice, priced, unpricedText, usageSince } from '../agents/token-price.ts';
import type { LaunchedProcess, RunProcesses } from '../process/index.ts';
import { confinementFor } from '../rights/confined.ts';
import { type Confinement, withOwn } from '../rights/confinement.ts';
import { tailIfReadable } from '../steps/file-text.ts';
import { sourceOf } from '../steps/kept-notes.ts';
import { type FollowedOutput, followOutput, textShower } from '../turn/follow-output.ts';
import { failed, INTERRUPTED } from '../turn/outcomes.ts';
import {
  type Begun,
  type How,
  promptAgain,
  type Report,
  type Turn,
  type TurnEnd,
  type Turning,
  turnExecutor,
} from '../turn/turn-executor.ts';
import { writeTurnFile } from '../turn/turn-file.ts';
import {
  type CodexStep,
  codexArguments,
  placeholdersOf,
  type SandboxRules,
  sandboxOf,
  type TurnSession,
} from './command.ts';
import { failureOf } from './failures.ts';
import { findCodex } from './health.ts';
import { type Happening, messageReader } from './messages.ts';
import { codexNeeds } from './needs.ts';
import { Placeholders } from './placeholders.ts';
import { readTurn, type Threads, type TurnFile, threadsIn } from './threads.ts';
import { codexTravel } from './travel.ts';

interface CodexOptions {
  /** The executable that the configuration names. */
  readonly path: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly processes: RunProcesses;
  /** The run's folder for notes about its sessions. */
  readonly sessionsFolder: string;
  readonly protects: Protected;
  readonly prices?: Prices;
  /** What the user says about its needs in a sandbox. */
  readonly own?: ConfiguredAgent | undefined;
}

export function codexExecutor(options: CodexOptions): Executor {
  const { processes, sessionsFolder, environment } = options;
  const threads = threadsIn(processes.seals, sessionsFolder, environment);
  const codex = {
    ...options,
    threads,
    unpriced: new Set<string>(),
    placeholders: new Placeholders(),
    hideKeys: keyHider(environment),
  };
  return turnExecutor({
    name: 'codex',
    processes,
    factsIn: (folder) => readTurn(processes.seals, folder),
    turn: (turning) => codexTurn(codex, turning),
    close: async () => {},
    travel: codexTravel(threads, processes.seals),
  });
}

interface Codex extends CodexOptions {
  readonly threads: Threads;
  /** The models without a known price that were reported. */
  readonly unpriced: Set<string>;
  readonly placeholders: Placeholders;
  readonly hideKeys: ReturnType<typeof keyHider>;
}

function codexTurn(codex: Codex, turning: Turning): Turn<TurnFile> {
  const step: CodexStep = { ...turning.step, ...readChoices('codex', turning.step.choices) };
  const begun = (
    turn: TurnFile,
    launched: LaunchedProcess,
    release?: () => void,
  ): Begun<FollowedTurn> => ({
    launched,
    process: turn.process,
    follow: () => followTurn(turning, launched),
    keep: () => false,
    report: (followed, how) => reportOf(codex, turning, turn, followed, how),
    ...(release && { release }),
  });
  return {
    async begin() {
      const confine = confinementOf(codex, step);
      // A sandbox in a sandbox cannot start, and the outer one allows no more.
      const sandbox = confine ? 'danger-full-access' : sandboxOf(step);
      const rules = { sandbox, cwd: step.cwd, ...protection(codex.protects, step) };
      const tell = (text: string) => turning.live({ kind: 'note', text });
      const hide = sandbox === 'danger-full-access' ? asItIs : await codex.hideKeys(rules, tell);
      if (turning.isStopped) return INTERRUPTED;
      const executable = findCodex(codex.path, codex.environment);
      if (!executable.found) {
        const message = `${executable.problem} ${executable.remedy}`;
        return failed({ kind: 'no-executable', message });
      }
      const release = codex.placeholders.expect(placeholdersOf(rules, tmpdir()));
      try {
        const { turn, launched } = launch(codex, step, executable.path, rules, hide, confine);
        return begun(turn, launched, release);
      } catch (error) {
        release();
        throw error;
      }
    },
    adopt: async (turn, launched) => begun(turn, launched),
  };
}

/** In a mode without edits, its own sandbox would allow no writing. */
function confinementOf(
  { protects, environment, own }: Codex,
  step: CodexStep,
): Confinement | undefined {
  const { cwd, rights } = step;
  const isReading = sandboxOf(step) === 'read-only';
  const narrowed = rights && isReading ? { ...rights, write: [...rights.write, []] } : rights;
  return confinementFor({ cwd, rights: narrowed }, protects, withOwn(codexNeeds(environment), own));
}

function launch(
  codex: Codex,
  step: CodexStep,
  executable: string,
  rules: SandboxRules,
  hide: (program: Program) => Program,
  confine: Confinement | undefined,
) {
  const { processes, environment, threads } = codex;
  const { folder, cwd, model, effort } = step;
  const { session, before } = sessionOf(threads, step);
  const turn: TurnFile = {
    executor: 'codex',
    process: folder,
    ...(model !== undefined && { model }),
    ...(before && { before }),
  };
  writeTurnFile(processes.seals, folder, turn);
  const prompt = join(folder, STEP_FILES.input.name);
  writeOwnFile(prompt, promptOf(codex, step));
  const args = codexArguments({ session, model, effort, ...rules });
  const program = hide({ command: executable, args });
  const env = { ...agentEnvironment(environment), ...step.environment };
  const stdin = { file: prompt };
  return { turn, launched: processes.launch({ folder, ...program, cwd, env, stdin, confine }) };
}

/** The thread of the turn, and the tokens that were counted before it. */
function sessionOf(
  threads: Threads,
  { session }: CodexStep,
): { session: TurnSession; before?: TurnFile['before'] } {
  if (session.use === 'fresh') return { session };
  const from = sourceOf(session);
  // A session may have two names. The note of the thread itself is the newest.
  const thread = threads.read(from)?.thread ?? from;
  const before = threads.read(thread)?.totals ?? threads.recorded(thread).totals;
  return { session: { use: session.use, thread }, ...(before && { before }) };
}

/** An earlier attempt may have left its prompt in the thread. */
function promptOf({ processes }: Codex, step: CodexStep): string {
  const { prompt, session, previousFolder } = step;
  const isRepeated =
    session.use === 'continue' &&
    previousFolder !== undefined &&
    readTurn(processes.seals, previousFolder)?.wasHeard;
  return isRepeated ? promptAgain(step) : prompt;
}

interface FollowedTurn extends FollowedOutput {
  /** The thread, once codex has named it. */
  readonly thread: string | undefined;
  /** The prompt is in the thread. */
  readonly hasPrompt: boolean;
  /** The last message of the model. */
  readonly text: string | undefined;
  readonly end: Extract<Happening, { kind: 'completed' | 'failed' }> | undefined;
  /** The end of standard error, if the turn has no end. */
  readonly complaint: string;
}

async function followTurn(turning: Turning, launched: LaunchedProcess): Promise<FollowedTurn> {
  const { live } = turning;
  const read = messageReader();
  const showText = textShower(live);
  let thread: string | undefined;
  let hasPrompt = false;
  let text: string | undefined;
  let end: FollowedTurn['end'];
  const handle = (happening: Happening) => {
    switch (happening.kind) {
      case 'thread':
        thread = happening.id;
        return;
      case 'turn':
        hasPrompt = true;
        return;
      case 'text':
        text = happening.text;
        return showText(text);
      case 'tool':
        return live(happening);
      case 'error':
        return live({ kind: 'note', text: `codex says: ${happening.message.slice(0, 300)}` });
      case 'completed':
      case 'failed':
        end = happening;
    }
  };
  const output = await followOutput(turning, launched, {
    from: 0,
    read: (piece) => read(piece).forEach(handle),
    isOver: () => end !== undefined,
    atEnd: 'wait',
  });
  const complaint = end ? '' : tailIfReadable(launched.stderr);
  return { ...output, thread, hasPrompt, text, end, complaint };
}

function reportOf(
  codex: Codex,
  turning: Turning,
  turn: TurnFile,
  followed: FollowedTurn,
  how: How,
): Report {
  const { end, exit, thread, offset, hasPrompt } = followed;
  const { folder } = turning.step;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (offset > 0) writeTurnFile(codex.processes.seals, folder, { ...turn, wasHeard: true });
  return {
    end: endOf(followed),
    account: accountOf(codex, turning, turn, followed),
    ...(offset > 0 && { raw: { from: 0, to: offset } }),
    isLost: how === 'adopted' && !end && exit?.kind !== 'exited',
    isUsable: () => thread !== undefined && hasPrompt,
  };
}

function endOf(followed: FollowedTurn): TurnEnd {
  const { end, text } = followed;
  if (end?.kind === 'failed')
    return { kind: 'failed', failure: failureOf(end.message, Date.now()) };
  if (!end) return { kind: 'failed', failure: withoutEnd(followed) };
  if (text !== undefined) return { kind: 'answered', text, denied: [] };
  return { kind: 'failed', failure: { kind: 'blocked', message: 'The model did not answer.' } };
}

function withoutEnd({ complaint, exit }: FollowedTurn): Failure {
  const code = exit?.kind === 'exited' ? `exit code ${exit.code}` : 'its exit code is unknown';
  // A stack trace follows the reason.
  const [why = ''] = complaint.trim().split(/\n\s*\n/, 1);
  const known = failureOf(why, Date.now());
  if (known.kind === 'session-gone') return known;
  const message = `Codex ended without a result (${code}). ${why}`.trim();
  // Whatever is not recognised is a crash, so that it is tried again.
  return { ...known, kind: known.kind === 'refused' ? 'crashed' : known.kind, message };
}

function accountOf(
  { threads, prices, unpriced }: Codex,
  { step, live }: Turning,
  { model, before }: TurnFile,
  { thread, end }: FollowedTurn,
): Account {
  if (thread === undefined) return { cost: NO_COST };
  const record = threads.recorded(thread);
  const totals = end?.kind === 'completed' ? end.totals : record.totals;
  const note = { thread, ...(totals && { totals }) };
  threads.write(thread, note);
  threads.write(step.session.id, note);
  const spent = totals && usageSince(before, totals);
  const used = record.model ?? model;
  if (spent && used !== undefined && !hasPrice(used, prices) && !unpriced.has(used)) {
    unpriced.add(used);
    live({ kind: 'note', text: unpricedText('codex', used) });
  }
  return {
    cost: spent ? priced(spent, used, prices) : NO_COST,
    ...(spent && { usage: spent }),
    ...(used !== undefined && { model: used }),
    ...(record.contextTokens !== undefined && { contextTokens: record.contextTokens }),
    session: { id: thread },
  };
}
