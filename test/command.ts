/**
 * Carries out a command in the process of the test. This takes a fraction of the time of a new
 * process, so it is for tests of what a command says and does. Tests of the process itself (its
 * start and end, its streams, signals) use `Project.run`.
 */
import { onTestFinished } from 'vitest';
import { commandLine } from '../src/cli/command-line.ts';
import { steadyClock } from '../src/world/steady-clock.ts';
import type { Circumstances, Ended, Project } from './raymond.ts';

export type CommandEnd = Pick<Ended, 'code' | 'stdout' | 'stderr'>;

interface Heard extends CommandEnd {
  /** Both streams, in the order in which it wrote. */
  readonly output: string;
}

export function command(
  project: Pick<Project, 'folder' | 'environment'>,
  args: readonly string[],
  { cwd = project.folder, env = {}, isTerminal }: CommandCircumstances = {},
): Promise<CommandEnd> {
  return carryOut(args, cwd, { ...project.environment, ...env }, isTerminal);
}

interface CommandCircumstances extends Pick<Circumstances, 'cwd' | 'env'> {
  /** What it prints is for a terminal, although there is none. */
  readonly isTerminal?: boolean;
}

/** One at a time, because a process has one directory, one environment and two streams. */
export async function carryOut(
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>>,
  isTerminal = false,
): Promise<Heard> {
  if (isBusy) throw new Error('Another command is still at work in this process. Use Project.run.');
  isBusy = true;
  const said = { stdout: '', stderr: '', output: '' };
  const hear = (stream: 'stdout' | 'stderr') => (text: string) => {
    said[stream] += text;
    said.output += text;
  };
  const changes = [
    enterFolder(cwd),
    setEnvironment(environment),
    listenTo('stdout', hear('stdout')),
    listenTo('stderr', hear('stderr')),
    ...(isTerminal ? [likeTerminal('stdout'), likeTerminal('stderr')] : []),
  ];
  const restore = () => {
    if (changes.length === 0) return;
    for (const undo of changes.splice(0)) undo();
    isBusy = false;
  };
  // A command that does not end fails its own test, and not those after it.
  onTestFinished(restore);
  try {
    // Its clock is as new as that of a process. An older one may have seen the future in another test.
    const code = await commandLine(args, { clock: steadyClock() });
    return { code, ...said };
  } finally {
    restore();
  }
}

let isBusy = false;

function enterFolder(cwd: string): () => void {
  const before = process.cwd();
  process.chdir(cwd);
  return () => process.chdir(before);
}

function setEnvironment(environment: Readonly<Record<string, string>>): () => void {
  const before = { ...process.env };
  const set = (values: Readonly<Record<string, string | undefined>>) => {
    for (const name of Object.keys(process.env)) if (!(name in values)) delete process.env[name];
    for (const [name, value] of Object.entries(values)) {
      if (process.env[name] !== value) process.env[name] = value;
    }
  };
  set(environment);
  return () => set(before);
}

function listenTo(name: 'stdout' | 'stderr', hear: (text: string) => void): () => void {
  const stream = process[name];
  const before = stream.write;
  stream.write = (text: string | Uint8Array, ...rest: unknown[]) => {
    hear(typeof text === 'string' ? text : Buffer.from(text).toString());
    const done = rest.find((one) => typeof one === 'function');
    done?.();
    return true;
  };
  return () => {
    stream.write = before;
  };
}

function likeTerminal(name: 'stdout' | 'stderr'): () => void {
  const before = process[name].isTTY;
  process[name].isTTY = true;
  return () => {
    process[name].isTTY = before;
  };
}
