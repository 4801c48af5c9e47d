/** Executes script states. */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { OwnFile } from '../../files/own-file.ts';
import type { Failure } from '../../model/failure.ts';
import { messageOf } from '../../model/message-of.ts';
import type { Refusal } from '../../model/rights.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { OutputText } from '../../model/tag.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { Interpreter } from '../../model/workflow.ts';
import { VALUE_NAMES, variableOf } from '../../parse/placeholders.ts';
import { type PrintPiece, printedTexts } from '../../parse/print-pieces.ts';
import { printStream } from '../../parse/print-stream.ts';
import type {
  CheckStep,
  Executor,
  Live,
  RunningStep,
  ScriptStep,
  Step,
  StepOutcome,
} from '../../ports.ts';
import { inheritedEnvironment } from '../agents/environment.ts';
import type { Protected } from '../agents/protected-files.ts';
import {
  type Exit,
  follow,
  hasLivingProcess,
  type Launch,
  type LaunchedProcess,
  type PreparedLaunch,
  type RunProcesses,
  signalOf,
  watchIdle,
} from '../process/index.ts';
import { confinementFor } from '../rights/confined.ts';
import {
  beginOf,
  recordedRefusals,
  recordedUses,
  visibleRefusals,
  warnOfCommandFiles,
  withRecords,
} from '../rights/refusals.ts';
import { answerRef, answerRefOf } from '../steps/answer-ref.ts';
import { type LargeText, outputText, tailIfReadable, tailText } from '../steps/file-text.ts';
import type { StepSeals } from '../steps/step-seals.ts';
import { ended, FREE, failed as failedWith, INTERRUPTED } from '../turn/outcomes.ts';
import { foreignText, tellMissing } from '../turn/turn-file.ts';
import { LATE, within } from '../within.ts';
import { scriptComparison } from './changed-script.ts';
import { type Cut, forgetCut, recordCut, recordedCut } from './step-cut.ts';

type Show = (live: Live) => void;
type Whose = 'ours' | 'adopted';

export function scriptExecutor(
  processes: RunProcesses,
  {
    from = process.env,
    protects,
  }: { readonly from?: NodeJS.ProcessEnv; readonly protects?: Protected } = {},
): Executor {
  const environment = inheritedEnvironment(from);
  const changeOf = scriptComparison();
  const running = new Set<LaunchedProcess>();
  const watched = (launched: LaunchedProcess, step: CommandStep, live: Show, whose: Whose) => {
    running.add(launched);
    void launched.ended.then(() => running.delete(launched));
    return watch(processes.seals, launched, step, live, whose, () => shortMs(running.size));
  };
  /** By the folder of the step. */
  const prepared = new Map<string, PreparedLaunch>();
  const start = (step: Step, live: Show) => {
    const script = asScript(step);
    const ahead = prepared.get(step.folder);
    prepared.delete(step.folder);
    const change = script.kind === 'script' ? changeOf(script) : undefined;
    if (change !== undefined) {
      ahead?.cancel();
      return refused(change, 'changed-script');
    }
    const launched = ahead?.submit() ?? processes.submit(launchOf(script, environment, protects));
    return watched(launched, script, live, 'ours');
  };
  return {
    name: 'script',
    prepare: (step) => {
      prepared.set(step.folder, processes.prepare(launchOf(asScript(step), environment, protects)));
    },
    start,
    adopt: (step, live) => {
      const found = processes.adopt(step.folder);
      if (found === 'foreign') return refused(foreignRecord(step), 'lost');
      if (hasLivingProcess(step.folder)) forgetCut(step.folder);
      // No process began in the folder, and none will, so the step can start now.
      if (found) return { ...watched(found, asScript(step), live, 'adopted'), isAdopted: true };
      tellMissing(step, live);
      return start(step, live);
    },
    close: () => processes.close(),
  };
}

/** A value that does not fit into the environment is only in its file. */
function variablesOf(step: CommandStep, inputFile: string): Readonly<Record<string, string>> {
  const { input } = step;
  const value = input === undefined ? {} : { [variableOf('result_file')]: inputFile };
  const fits =
    input !== undefined && Buffer.byteLength(input) <= LARGEST_VALUE && !input.includes('\0');
  return {
    ...step.environment,
    ...value,
    ...(fits && Object.fromEntries(VALUE_NAMES.map((name) => [variableOf(name), input]))),
  };
}

/** The program that interprets a script, with its arguments. */
export function interpreterCommand(
  interpreter: Interpreter,
  file: string,
): readonly [string, readonly string[]] {
  switch (interpreter) {
    case 'bash':
      return ['/bin/bash', [file]];
    case 'cmd':
      return ['cmd.exe', ['/d', '/s', '/c', file]];
    case 'powershell':
      return ['powershell.exe', ['-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', file]];
    default:
      return unreachable(interpreter);
  }
}

/** The program that interprets a command, with its arguments. */
function shellCommand(
  interpreter: Interpreter,
  command: string,
): readonly [string, readonly string[]] {
  switch (interpreter) {
    case 'bash':
      return ['/bin/bash', ['-c', command]];
    case 'cmd':
      return ['cmd.exe', ['/d', '/s', '/c', command]];
    case 'powershell':
      return ['powershell.exe', ['-NoProfile', '-Command', command]];
    default:
      return unreachable(interpreter);
  }
}

/** One variable can have 128 KiB on Linux, and 32 Ki characters on Windows. */
const LARGEST_VALUE = process.platform === 'win32' ? 30_000 : 120_000;

type CommandStep = ScriptStep | CheckStep;

function asScript(step: Step): CommandStep {
  if (step.kind !== 'prompt') return step;
  throw new Error('Bug: a prompt was given to the script executor');
}

function refused(why: string, kind: 'changed-script' | 'lost'): RunningStep {
  return ended(failed(why, kind));
}

function foreignRecord({ folder, state, run }: Step): string {
  return `It is unknown how ${state} ended. ${foreignText(folder)} Raymond repeats a script once in this case. If this happens again, check what the script has done, then run: raymond resume ${run}`;
}

function launchOf(
  step: CommandStep,
  environment: Readonly<Record<string, string>>,
  protects: Protected | undefined,
): Launch {
  const inputFile = join(step.folder, STEP_FILES.input.name);
  const [command, args] =
    step.kind === 'check'
      ? shellCommand(step.interpreter, step.command)
      : interpreterCommand(step.interpreter, step.file);
  return {
    folder: step.folder,
    command,
    args,
    cwd: step.cwd,
    env: environment,
    variables: variablesOf(step, inputFile),
    stdin: 'none',
    input: step.input,
    confine: confinementFor(step, protects),
  };
}

function watch(
  seals: StepSeals,
  launched: LaunchedProcess,
  step: CommandStep,
  live: Show,
  whose: Whose,
  short: () => number,
): RunningStep {
  const beganMs = whose === 'ours' ? Date.now() : beginOf(step.folder);
  let cut: Cut | undefined;
  const end = (why: Cut) => {
    cut ??= why;
    recordCut(seals, step.folder, cut);
    void launched.stop();
  };
  let cancelIdle = () => {};
  const watchLong = () => {
    cancelIdle = watchIdle({
      files: [launched.stdout.path, launched.stderr.path],
      idleTimeoutMs: step.idleTimeoutMs,
      onIdle: () => end('idle'),
    });
  };
  const outcome = async (): Promise<StepOutcome> => {
    const followed = followPrints(launched, live, watchLong, short);
    const exit = await launched.ended;
    // The step is done. A later stop must not lose its outcome.
    const cutBefore = cut;
    cancelIdle();
    const isShown = await followed;
    await launched.endLeftovers();
    const isSuccess = exit.kind === 'exited' && exit.code === 0;
    const output = isSuccess ? outputText(launched.stdout) : undefined;
    if (!isShown) await showPrints(output, launched, live);
    const cutLater = whose === 'ours' ? cut : (cut ?? recordedCut(seals, step.folder));
    const reason = cutBefore ?? (isSuccess ? undefined : cutLater);
    if (reason === 'stopped') return INTERRUPTED;
    const silence = `was silent for ${step.idleTimeoutMs / 1000} s and was stopped.`;
    if (step.kind === 'check') {
      // A command that hangs has failed. The agent can repair the cause.
      if (reason === 'idle') return checkEnded(EXIT_OF_TIMEOUT, launched, `The command ${silence}`);
      if (exit.kind === 'exited') return checkEnded(exit.code, launched);
    }
    if (reason === 'idle') return failed(`${step.state} ${silence}`, 'idle');
    return outcomeOf(exit, output, launched, step, whose);
  };
  return {
    outcome: outcome()
      .catch((error) => failed(`The output of ${step.state} cannot be read: ${messageOf(error)}`))
      .then((end) => {
        if (!step.rights) return end;
        warnOfCommandFiles(step, beganMs, live);
        return withRecords(
          end,
          refusalsOf(step.folder, launched),
          recordedUses(step.folder, 0, step),
        );
      }),
    stop: () => end('stopped'),
  };
}

async function outcomeOf(
  exit: Exit,
  output: string | LargeText | undefined,
  launched: LaunchedProcess,
  step: CommandStep,
  whose: Whose,
): Promise<StepOutcome> {
  switch (exit.kind) {
    case 'exited':
      if (output === undefined)
        return failed(`${step.state} exited with ${meaning(exit.code)}.${errorTail(launched)}`);
      return answered(launched.stdout, output);
    case 'unstarted':
      return whose === 'adopted'
        ? INTERRUPTED
        : failed(
            `${step.state} could not be started. ${exit.reason}`,
            exit.mayPass ? 'not-begun' : 'script-failed',
          );
    case 'left':
      return INTERRUPTED;
    case 'unknown':
      return failed(
        `It is unknown how ${step.state} ended: its wrapper process was killed, or the machine went down. Raymond repeats a script once in this case. If this happens again, check what the script has done, then run: raymond resume ${step.run}`,
        'lost',
      );
    default:
      return unreachable(exit);
  }
}

/** As `timeout` of coreutils reports it. */
const EXIT_OF_TIMEOUT = 124;

/** Each exit code of a check is an answer. Its output is the end of what it wrote. */
async function checkEnded(
  exit: number,
  { stdout, stderr }: LaunchedProcess,
  note = '',
): Promise<StepOutcome> {
  const tails = [tailText(stdout, CHECK_TAIL_BYTES), tailText(stderr, CHECK_TAIL_BYTES)];
  const output = [...tails, note].filter((part) => part !== '').join('\n');
  return { ...(await answered(stdout, outputText(stdout))), output, exit };
}

const CHECK_TAIL_BYTES = 3000;

type Answered = Extract<StepOutcome, { kind: 'answered' }>;

async function answered(file: OwnFile, output: string | LargeText): Promise<Answered> {
  const answer =
    typeof output === 'string'
      ? answerRef(output)
      : await answerRefOf(file, output.length, { look: (block, at) => output.look(block, at) });
  return { kind: 'answered', output, answer, denied: [], account: FREE };
}

function meaning(code: number): string {
  const signal = signalOf(code);
  return signal === undefined ? String(code) : `${code}, as after ${signal}`;
}

function failed(message: string, kind: Failure['kind'] = 'script-failed'): StepOutcome {
  return failedWith({ kind, message });
}

/**
 * How long a script may take before its output and its silence are watched while it runs. A watch costs
 * more than all else that a short script needs. When many scripts share the processors, each of them
 * takes longer.
 */
const SHORT_MS = 100;
const LONGEST_SHORT_MS = 1000;
const PROCESSORS = availableParallelism();

function shortMs(running: number): number {
  return Math.min(LONGEST_SHORT_MS, SHORT_MS * Math.max(1, running / PROCESSORS));
}

/** Shows what a script prints while it runs; returns false for one that was over before. */
async function followPrints(
  launched: LaunchedProcess,
  live: Show,
  onLong: () => void,
  short: () => number,
): Promise<boolean> {
  if (await isShort(launched, short)) return false;
  onLong();
  while (!existsSync(launched.stdout.path)) if (await isOverSoon(launched, SHORT_MS)) return false;
  await showGrowth(launched, live);
  return true;
}

/** Other scripts may begin meanwhile, which makes this one slower. */
async function isShort(launched: LaunchedProcess, short: () => number): Promise<boolean> {
  for (let waited = 0; waited < short(); ) {
    const ms = short() - waited;
    if (await isOverSoon(launched, ms)) return true;
    waited += ms;
  }
  return false;
}

async function isOverSoon({ ended }: LaunchedProcess, ms: number): Promise<boolean> {
  return (await within(ended, ms)) !== LATE;
}

async function showPrints(output: OutputText | undefined, launched: LaunchedProcess, live: Show) {
  if (typeof output !== 'string') return showGrowth(launched, live);
  const prints = printStream();
  show(prints.push(output), live);
  show(prints.end(), live);
}

/** Most output has no prints. Bytes that cannot begin one need no decoding. */
const LESS_THAN = 0x3c;

async function showGrowth({ stdout, ended }: LaunchedProcess, live: Show): Promise<void> {
  const prints = printStream();
  let decoder = new StringDecoder('utf8');
  try {
    for await (const chunk of follow(stdout, { until: ended })) {
      if (prints.isIdle() && !chunk.includes(LESS_THAN)) decoder = new StringDecoder('utf8');
      else show(prints.push(decoder.write(chunk)), live);
    }
    show(prints.end(), live);
  } catch {
    // The output cannot be read. The exit of the process shows the cause.
  }
}

function show(pieces: readonly PrintPiece[], live: Show): void {
  for (const text of printedTexts(pieces)) live({ kind: 'print', text });
}

function refusalsOf(folder: string, { stderr }: LaunchedProcess): readonly Refusal[] {
  const recorded = recordedRefusals(folder, 0);
  return recorded.length > 0 ? recorded : visibleRefusals(tailIfReadable(stderr, 8 * 1024));
}

const TAIL_BYTES = 600;

function errorTail({ stderr }: LaunchedProcess): string {
  const text = tailIfReadable(stderr, TAIL_BYTES);
  return text === '' ? '' : ` It said: ${text}`;
}
