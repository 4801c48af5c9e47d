/**
 * Finds processes of a project's steps that still run, by every trace that a process can have.
 * These are the identities that Raymond recorded and, where /proc exists, the environments and
 * limits of all processes. The environments contain the step's token and a folder of the project.
 * The limits contain the run.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { boot } from '../src/execute/process/identity.ts';
import { isAlive } from '../src/execute/process/index.ts';
import { limitMark, runKey } from '../src/execute/process/mark.ts';
import {
  foldersWithRecords,
  type ProcessRecord,
  readRecord,
} from '../src/execute/process/record.ts';
import { realOrSame } from '../src/files/regular-file.ts';
import { eventually } from './eventually.ts';
import { namesIn } from './names-in.ts';

interface Recorded extends ProcessRecord {
  /** The step's folder. */
  readonly folder: string;
}

/** A line for each remaining process, to be read in a failed test. `state` is the folder of the runs. */
export function survivors(project: string, state = join(project, '.raymond')): string[] {
  const records = recordsOf(state);
  const recorded = records.filter(({ identity }) => isAlive(identity));
  const marked = markedWith(
    [`=${project}/`, ...records.map(({ token }) => token)],
    runsOf(state).map((folder) => runKey(folder, boot())),
  );
  const pids = new Set([...recorded.map(({ identity }) => identity.pid), ...marked]);
  return [...pids].map((pid) => `${pid} ${commandOf(pid)}`);
}

/**
 * What is left when Raymond has ended. It does not wait long for its launchers, and the kernel removes
 * a killed process, which has no command line any more, a moment later.
 */
export async function processesLeft(project: string): Promise<string[]> {
  const isEnding = (line: string) => line.includes('raymond-launcher') || /^\d+ $/.test(line);
  let left: string[] = [];
  await eventually(
    'the launchers have ended',
    () => {
      left = survivors(project);
      return !left.some(isEnding);
    },
    LOOK_EVERY_MS,
  );
  return left;
}

/** To look at all processes of the machine takes some milliseconds. */
const LOOK_EVERY_MS = 40;

export async function endSurvivors(project: string, state?: string): Promise<void> {
  await endAll('the steps of the project are gone', () =>
    survivors(project, state).map((line) => Number.parseInt(line, 10)),
  );
}

async function endAll(what: string, find: () => readonly number[]): Promise<void> {
  const isOver = () => {
    const pids = find();
    for (const pid of pids) kill(pid);
    return pids.length === 0;
  };
  await eventually(what, isOver, LOOK_EVERY_MS);
}

/** Ends every process that was started with this text in its environment, where /proc exists. */
export async function endProcessesWith(text: string): Promise<void> {
  await endAll(`no process has ${text}`, () =>
    processesWhere((pid) => environmentOf(pid).includes(text)),
  );
}

/** Sends a signal to all of them, the oldest first, as a shutdown does. Returns how many there are. */
export function signalProcessesWith(text: string, signal: NodeJS.Signals): number {
  const pids = processesWhere((pid) => environmentOf(pid).includes(text)).sort((a, b) => a - b);
  for (const pid of pids) kill(pid, signal);
  return pids.length;
}

/** Kills every process of every step at the same time, like a crash of the whole machine. */
export function killSteps(project: string): void {
  const pids = survivors(project).map((line) => Number.parseInt(line, 10));
  // Otherwise a wrapper could still record how its command ended.
  for (const pid of pids) suspend(pid);
  for (const pid of pids) killHard(pid);
}

/** The steps whose wrapper, or witness, still has their command. */
export function runningSteps(project: string): { readonly folder: string; readonly pid: number }[] {
  return recordsOf(join(project, '.raymond'))
    .filter(({ identity, isOver }) => !isOver && isAlive(identity))
    .map(({ folder, identity }) => ({ folder, pid: identity.pid }));
}

/** The shells that fork the witnesses of scripts. */
export function launchers(project: string): readonly number[] {
  const known = new Set(recordsOf(join(project, '.raymond')).map(({ launcher }) => launcher));
  return survivors(project)
    .filter((line) => line.includes('raymond-launcher'))
    .map((line) => Number.parseInt(line, 10))
    .filter((pid) => known.has(pid));
}

export function killHard(pid: number): void {
  kill(pid);
}

export function suspend(pid: number): void {
  kill(pid, 'SIGSTOP');
}

function recordsOf(state: string): Recorded[] {
  return foldersWithRecords(join(state, 'runs')).flatMap((folder) => {
    const record = readRecord(folder);
    return record ? [{ ...record, folder }] : [];
  });
}

function runsOf(state: string): string[] {
  const runs = join(state, 'runs');
  // A run that is being removed has another name for a moment.
  return namesIn(runs).map((name) => realOrSame(join(runs, name)));
}

function markedWith(marks: readonly string[], keys: readonly string[]): number[] {
  return processesWhere((pid) => {
    const environment = environmentOf(pid);
    const isNamed =
      environment.includes('RAYMOND_STEP_TOKEN=') &&
      marks.some((mark) => environment.includes(mark));
    const limit = limitMark(readOrNothing(`/proc/${pid}/limits`));
    return isNamed || (limit !== undefined && keys.includes(limit.key));
  });
}

function processesWhere(isMeant: (pid: string) => boolean): number[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isMeant(name) && !isZombie(name))
    .map(Number);
}

const environmentOf = (pid: string) => readOrNothing(`/proc/${pid}/environ`);

function isZombie(pid: string): boolean {
  return /\) [ZX] /.test(readOrNothing(`/proc/${pid}/stat`));
}

function commandOf(pid: number): string {
  return readOrNothing(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').slice(-200);
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended in the meantime.
  }
}
