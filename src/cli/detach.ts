/** Starts a command in a background process, and waits until its run has begun or was refused. */
import { type ChildProcess, spawn } from 'node:child_process';
import { unreachable } from '../model/unreachable.ts';
import { UserError } from '../model/user-error.ts';
import type { RunOptions } from '../options/run-options.ts';
import { type DetachedCommand, type FirstWord, isFirstWord } from './detached-command.ts';
import type { Surroundings } from './surroundings.ts';
import { stderr, stdout } from './terminal.ts';

export interface Detaching {
  readonly run: string;
  readonly command: Omit<DetachedCommand, 'log'>;
  /** Whether to show what the process says before the run begins. */
  readonly relay: boolean;
}

/** Prints the id of the run, and gives the exit code. */
export async function detach(
  around: Surroundings,
  detaching: Detaching,
  { quiet, json }: Pick<RunOptions, 'quiet' | 'json'>,
): Promise<number> {
  const { run, relay } = detaching;
  const { child, word, said, log } = await startDetached(around, detaching);
  if (relay || word.kind === 'over' || word.kind === 'died') await stderr.document(said);
  switch (word.kind) {
    case 'began':
      if (json) stdout.json({ workflow_id: run, pid: child.pid, log });
      else stdout.say(run);
      if (!json && !quiet) for (const line of howToSteer(run, child)) stderr.offer(line);
      return 0;
    case 'refused':
      throw refused(word);
    case 'over':
      return word.exitCode;
    case 'died':
      throw died(run, word.how);
    default:
      return unreachable(word);
  }
}

/** Starts the process. It does not depend on this one after its first word. */
export async function startDetached(
  around: Surroundings,
  { run, command }: Pick<Detaching, 'run' | 'command'>,
) {
  const { processLog } = around.workspace(run);
  const log = await processLog.open();
  const child = startProcess(around.cwd, run, log.descriptor);
  const word = await firstWord(child, { ...command, log: log.path });
  const said = log.text();
  log.close();
  if (word.kind === 'began') child.unref();
  else log.remove();
  return { child, word, said, log: processLog.path };
}

export function refused({ code, message, remedy, place }: WordOf<'refused'>): UserError {
  return new UserError(code, message, remedy, place);
}

export function died(run: string, how: string): UserError {
  return new UserError(
    'process-died',
    `The background process of ${run} ended before the run began (${how}).`,
    'Run the command again, or omit --detach.',
  );
}

type WordOf<K extends FirstWord['kind']> = Extract<FirstWord, { kind: K }>;

/** In its own session, so it outlives the terminal. It has no stream in common with this process. */
function startProcess(cwd: string, run: string, log: number): ChildProcess {
  const [, program = ''] = process.argv;
  return spawn(process.execPath, [...process.execArgv, program, '__detached', run], {
    cwd,
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'ignore', log, 'ipc'],
  });
}

type FirstNews = FirstWord | { readonly kind: 'died'; readonly how: string };

function firstWord(child: ChildProcess, command: DetachedCommand): Promise<FirstNews> {
  return new Promise((resolve) => {
    child.on('message', (word) => {
      if (isFirstWord(word)) resolve(word);
    });
    child.once('error', (error) => resolve({ kind: 'died', how: error.message }));
    // After the last message.
    child.once('close', (code, signal) =>
      resolve({ kind: 'died', how: signal ?? `exit code ${code}` }),
    );
    child.send(command, () => {});
  });
}

function howToSteer(run: string, { pid }: ChildProcess): readonly string[] {
  return [
    `${run} runs in the background (pid ${pid}).`,
    `To watch it: raymond watch ${run}`,
    `To answer its questions: raymond answer ${run}`,
    `To stop it: raymond stop ${run}`,
  ];
}
