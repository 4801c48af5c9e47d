/**
 * Executes prompt states with codex: one process for each turn. No code outside of this folder knows
 * a flag, a message or a file of codex.
 */
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeOwnFile } from '../../files/own-file.ts';
import type { Prices } from '../../model/configured-agent.ts';
import { type Account, NO_COST } from '../../model/step-account.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { Executor, Live, RunningStep, Step, StepOutcome } from '../../ports.ts';
import { agentEnvironment } from '../environment.ts';
import { foreignStep } from '../foreign-step.ts';
import { asItIs, keyHider, type Program } from '../out-of-sight.ts';
import type { LaunchedProcess, RunProcesses } from '../process/index.ts';
import { type Protected, protection } from '../protected-files.ts';
import { unpricedText } from '../token-price.ts';
import { type CodexStep, readChoices, sandboxOf } from './choices.ts';
import { codexArguments, placeholdersOf, type SandboxRules, type TurnSession } from './command.ts';
import { findCodex } from './executable.ts';
import { followTurn } from './follow-turn.ts';
import { Placeholders } from './placeholders.ts';
import { settle } from './settle.ts';
import { type Threads, threadsIn } from './threads.ts';
import { codexTravel } from './travel.ts';
import { readTurn, type TurnFile, writeTurn } from './turn-file.ts';

export interface CodexOptions {
  /** The executable that the configuration names. */
  readonly path: string | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly processes: RunProcesses;
  /** The run's folder for notes about its sessions. */
  readonly sessionsFolder: string;
  readonly protects: Protected;
  readonly prices?: Prices;
}

export function codexExecutor(options: CodexOptions): Executor {
  const codex: Codex = {
    ...options,
    threads: threadsIn(options.processes.seals, options.sessionsFolder, options.environment),
    unpriced: new Set(),
    placeholders: new Placeholders(),
    hideKeys: keyHider(options.environment),
  };
  const start = (step: Step, live: Show) =>
    controlled(async (control) => startTurn(codex, forCodex(step), live, control));
  return {
    name: 'codex',
    start,
    adopt: (step, live) => {
      const { processes } = codex;
      const turn = readTurn(processes.seals, step.folder);
      const launched = turn && processes.adopt(turn.process);
      const foreign = foreignStep(processes, step, turn, launched, live);
      if (foreign) return foreign;
      // No process began, and none will, so the turn can start now.
      if (!turn || typeof launched !== 'object') return start(step, live);
      const running = controlled(async (control) =>
        finishTurn(codex, forCodex(step), live, control, turn, launched, 'adopted'),
      );
      return { ...running, isAdopted: true };
    },
    close: async () => {},
    travel: codexTravel(codex.threads, codex.processes.seals),
  };
}

interface Codex extends CodexOptions {
  readonly threads: Threads;
  /** The models without a known price that were reported. */
  readonly unpriced: Set<string>;
  readonly placeholders: Placeholders;
  readonly hideKeys: ReturnType<typeof keyHider>;
}

type Show = (live: Live) => void;

/** Connects a stop to the turn that is running. */
interface Control {
  stopped: boolean;
  launched: LaunchedProcess | undefined;
}

function controlled(run: (control: Control) => Promise<StepOutcome>): RunningStep {
  const control: Control = { stopped: false, launched: undefined };
  return {
    outcome: run(control).catch(crashed),
    stop: () => {
      control.stopped = true;
      void control.launched?.stop();
    },
  };
}

async function startTurn(
  codex: Codex,
  step: CodexStep,
  live: Show,
  control: Control,
): Promise<StepOutcome> {
  const rules = { sandbox: sandboxOf(step), cwd: step.cwd, ...protection(codex.protects, step) };
  const tell = (text: string) => live({ kind: 'note', text });
  const hide = rules.sandbox === 'danger-full-access' ? asItIs : await codex.hideKeys(rules, tell);
  // A stop in the same moment comes before the launch.
  await Promise.resolve();
  if (control.stopped) return NOT_BEGUN;
  const executable = findCodex(codex.path, codex.environment);
  if (!executable.found) {
    const message = `${executable.problem} ${executable.remedy}`;
    return { kind: 'failed', failure: { kind: 'no-executable', message }, account: FREE };
  }
  const removePlaceholders = codex.placeholders.expect(placeholdersOf(rules, tmpdir()));
  try {
    const { turn, launched } = launch(codex, step, executable.path, rules, hide);
    return await finishTurn(codex, step, live, control, turn, launched, 'ours');
  } finally {
    removePlaceholders();
  }
}

function launch(
  codex: Codex,
  step: CodexStep,
  executable: string,
  rules: SandboxRules,
  hide: (program: Program) => Program,
) {
  const { session, before } = sessionOf(codex.threads, step);
  const turn: TurnFile = {
    executor: 'codex',
    process: step.folder,
    ...(step.model !== undefined && { model: step.model }),
    ...(before && { before }),
  };
  writeTurn(codex.processes.seals, step.folder, turn);
  const prompt = join(step.folder, STEP_FILES.input.name);
  writeOwnFile(prompt, promptOf(codex, step));
  const { model, effort } = step;
  const args = codexArguments({ session, model, effort, ...rules });
  const launched = codex.processes.launch({
    folder: step.folder,
    ...hide({ command: executable, args }),
    cwd: step.cwd,
    env: { ...agentEnvironment(codex.environment), ...step.environment },
    stdin: { file: prompt },
  });
  return { turn, launched };
}

/** The thread of the turn, and the tokens that were counted before it. */
function sessionOf(
  threads: Threads,
  { session }: CodexStep,
): { session: TurnSession; before?: TurnFile['before'] } {
  if (session.use === 'fresh') return { session };
  const from = session.use === 'branch' ? session.from : session.id;
  // A session may have two names. The note of the thread itself is the newest.
  const thread = threads.read(from)?.thread ?? from;
  const before = threads.read(thread)?.totals ?? threads.recorded(thread).totals;
  return { session: { use: session.use, thread }, ...(before && { before }) };
}

/**
 * Codex cannot remove a message from a thread. If an earlier attempt has left its prompt there, it is
 * not sent again.
 */
function promptOf({ processes }: Codex, { prompt, session, previousFolder }: CodexStep): string {
  const isRepeated =
    session.use === 'continue' &&
    previousFolder !== undefined &&
    readTurn(processes.seals, previousFolder)?.wasHeard;
  return isRepeated ? AGAIN : prompt;
}

const AGAIN =
  'The last turn broke off. Start again with the last request before this note, from its beginning.';

async function finishTurn(
  codex: Codex,
  step: CodexStep,
  live: Show,
  control: Control,
  turn: TurnFile,
  launched: LaunchedProcess,
  how: 'ours' | 'adopted',
): Promise<StepOutcome> {
  control.launched = launched;
  if (control.stopped) void launched.stop();
  const followed = await followTurn(launched, step.idleTimeoutMs, live);
  if (followed.exit?.kind === 'left') return NOT_BEGUN;
  await (followed.exit ? launched.endLeftovers() : launched.stop());
  mkdirSync(step.folder, { recursive: true, mode: 0o700 });
  if (followed.bytes > 0)
    writeTurn(codex.processes.seals, step.folder, { ...turn, wasHeard: true });
  const unpriced = (model: string) => {
    if (codex.unpriced.has(model)) return;
    codex.unpriced.add(model);
    live({ kind: 'note', text: unpricedText('codex', model) });
  };
  const outcome = control.stopped ? 'stopped' : how;
  return settle({ ...codex, unpriced }, step, turn, followed, outcome);
}

const FREE: Account = { cost: NO_COST };
const NOT_BEGUN: StepOutcome = { kind: 'interrupted', sessionUsable: false, account: FREE };

function forCodex(step: Step): CodexStep {
  if (step.kind === 'prompt') return { ...step, ...readChoices(step.choices) };
  throw new Error('Bug: a script was given to codex');
}

function crashed(error: unknown): StepOutcome {
  const message = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', failure: { kind: 'crashed', message }, account: FREE };
}
