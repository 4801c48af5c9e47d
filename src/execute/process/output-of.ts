/** Asks a program something, for as long as one would wait, and leaves nothing of it running. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPartSync } from '../../files/regular-file.ts';
import type { Launch } from './launch.ts';
import { type LaunchedProcess, RunProcesses } from './run-processes.ts';

export interface Question extends Pick<Launch, 'command' | 'args' | 'env'> {
  readonly longestMs: number;
}

const MOST_BYTES = 1024 * 1024;

/** What it says, whatever its exit code; nothing when it cannot be run or does not end in time. */
export async function outputOf({ longestMs, ...question }: Question): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-ask-'));
  try {
    const processes = new RunProcesses(folder);
    const step = { folder: join(folder, 'step'), cwd: process.cwd(), stdin: 'none' } as const;
    const launched = processes.launch({ ...question, ...step });
    if (!(await hasEnded(launched, longestMs))) return '';
    return readPartSync(launched.stdoutFile, 0, MOST_BYTES).toString('utf8');
  } catch {
    return '';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** It runs apart from us, so a signal that ends us has to end it, too. */
async function hasEnded(launched: LaunchedProcess, longestMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  let caught: NodeJS.Signals | undefined;
  let giveUp = () => {};
  const late = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
    timer = setTimeout(giveUp, longestMs);
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
