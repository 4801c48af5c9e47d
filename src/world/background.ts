/** Begins or resumes a run in a background process, and waits until it has begun or was refused. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Notice } from '../model/notice.ts';
import { unreachable } from '../model/unreachable.ts';
import { type ErrorPlace, UserError } from '../model/user-error.ts';
import type { RunOptions } from '../options/run-options.ts';
import type { Surroundings } from './surroundings.ts';

export interface BackgroundCommand {
  readonly kind: 'run' | 'resume';
  /** The workflow, or the run. */
  readonly name: string;
  readonly options: RunOptions;
}

/** Who works on a run after a command has left it. */
export type Carrier =
  /** The log has the messages of the process. */
  | { readonly kind: 'process'; readonly pid: number | undefined; readonly log: string }
  | { readonly kind: 'workers' }
  /** The run is completed. */
  | { readonly kind: 'nobody' };

/** The task of the process. */
export interface BackgroundTask extends BackgroundCommand {
  /** The file of its standard error. */
  readonly log: string;
}

/** The outcome of the start, with the notices up to then. */
export type FirstWord = { readonly notices: readonly Notice[] } & (
  | { readonly kind: 'began' }
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly remedy: string;
      readonly place: ErrorPlace | undefined;
    }
  /** There was no run to work on. */
  | { readonly kind: 'over' }
);

/** After its first message, the process does not depend on this one. Its notices are passed on. */
export async function startInBackground(
  around: Pick<Surroundings, 'workspace' | 'cwd'>,
  run: string,
  command: BackgroundCommand,
  notice: (notice: Notice) => void,
): Promise<Carrier> {
  const { processLog } = around.workspace(run);
  const log = await processLog.open();
  const child = startProcess(around.cwd, run, log.descriptor);
  const word = await firstWord(child, { ...command, log: log.path });
  const said = log.text();
  log.close();
  if (word.kind === 'began') child.unref();
  else log.remove();
  if (word.kind !== 'died') word.notices.forEach(notice);
  // The log is gone, and it alone has the stack.
  if (word.kind === 'died' || (word.kind === 'refused' && word.code === 'bug'))
    for (const text of said.split('\n').filter((line) => line !== ''))
      notice({ kind: 'warning', text });
  switch (word.kind) {
    case 'began':
      return { kind: 'process', pid: child.pid, log: processLog.path };
    case 'over':
      return { kind: 'nobody' };
    case 'refused':
      throw new UserError(word.code, word.message, word.remedy, word.place);
    case 'died':
      throw new UserError(
        'process-died',
        `The background process of ${run} ended before the run began (${word.how}).`,
        'Run the command again, or omit --detach.',
      );
    default:
      return unreachable(word);
  }
}

/** In its own session, so it outlives the terminal. It shares no stream with this process. */
function startProcess(cwd: string, run: string, log: number): ChildProcess {
  const [, program = ''] = process.argv;
  return spawn(process.execPath, [...process.execArgv, program, '__detached', run], {
    cwd,
    // It carries a run in files. Workers carry those in a database.
    env: { ...process.env, RAYMOND_DATABASE: 'none' },
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'ignore', log, 'ipc'],
  });
}

type FirstNews = FirstWord | { readonly kind: 'died'; readonly how: string };

function firstWord(child: ChildProcess, task: BackgroundTask): Promise<FirstNews> {
  return new Promise((resolve) => {
    child.on('message', (word) => {
      if (isFirstWord(word)) resolve(word);
    });
    child.once('error', (error) => resolve({ kind: 'died', how: error.message }));
    // After the last message.
    child.once('close', (code, signal) =>
      resolve({ kind: 'died', how: signal ?? `exit code ${code}` }),
    );
    child.send(task, () => {});
  });
}

export function isBackgroundTask(value: unknown): value is BackgroundTask {
  return hasKind(value, ['run', 'resume']);
}

function isFirstWord(value: unknown): value is FirstWord {
  return hasKind(value, ['began', 'refused', 'over']);
}

/** Only Raymond writes to this channel, so the kind is enough. */
function hasKind(value: unknown, kinds: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    kinds.includes(`${value.kind}`)
  );
}
