/** Runs a program with a timeout for its output, and leaves none of its processes running. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPartSync } from '../../files/regular-file.ts';
import type { Launch } from './launch.ts';
import { type LaunchedProcess, RunProcesses } from './run-processes.ts';

interface OutputRequest extends Pick<Launch, 'command' | 'args' | 'env'> {
  readonly timeoutMs: number;
  /** Standard error follows standard output. */
  readonly withErrors?: boolean;
}

const MAX_BYTES = 1024 * 1024;

/** Standard output, whatever the exit code; empty if the program cannot run or does not end in time. */
export async function outputOf({
  timeoutMs,
  withErrors = false,
  ...program
}: OutputRequest): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-ask-'));
  try {
    const processes = new RunProcesses(folder);
    // A program that is asked about itself reads no settings of a project.
    const step = { folder: join(folder, 'step'), cwd: folder, stdin: 'none' } as const;
    const launched = processes.launch({ ...program, ...step });
    if (!(await endsInTime(launched, timeoutMs))) return '';
    const files = [launched.stdout, ...(withErrors ? [launched.stderr] : [])];
    return files.map((file) => readPartSync(file, 0, MAX_BYTES).toString('utf8')).join('');
  } catch {
    return '';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The program runs in its own session, so a signal that ends this process must also stop the program. */
async function endsInTime(launched: LaunchedProcess, timeoutMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  let caught: NodeJS.Signals | undefined;
  let giveUp = () => {};
  const late = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
    timer = setTimeout(giveUp, timeoutMs);
  });
  const onSignal = (signal: NodeJS.Signals) => {
    caught = signal;
    giveUp();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    const exit = await Promise.race([launched.ended, late]);
    await (exit ? launched.endLeftovers(0) : launched.stop(0));
    return exit !== undefined;
  } finally {
    clearTimeout(timer);
    for (const signal of SIGNALS) process.off(signal, onSignal);
    if (caught) process.kill(process.pid, caught);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
