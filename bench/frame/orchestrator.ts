import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { basename, join } from 'node:path';

/** A program that runs workflows: this Raymond, or one that `--compare` names. */
export interface Orchestrator {
  readonly name: string;
  /** Runs a workflow to its end; the milliseconds. Throws if it fails. */
  run(task: Task): number;
  /** Starts a workflow, and returns without waiting for its end. */
  start(task: Task): ChildProcess;
}

export interface Task {
  /** The scratch project; the current directory of the orchestrator. */
  readonly project: string;
  /** The folder of the workflow, or one of its states. */
  readonly workflow: string;
  readonly environment?: Readonly<Record<string, string | number>>;
  /** Options of Raymond. Another orchestrator gets only the options in its own command. */
  readonly options?: readonly string[];
}

const bin = join(import.meta.dirname, '..', '..', 'bin', 'raymond.js');

export const raymond: Orchestrator = orchestrator('raymond', ({ workflow, options = [] }) => [
  process.execPath,
  bin,
  workflow,
  '--quiet',
  ...options,
]);

/** `command` or `name=command`, as given to `--compare`. A shell splits the command into words. */
export function otherOrchestrator(given: string): Orchestrator {
  const named = /^([\w.-]+)=(.+)$/s.exec(given);
  const [, name, command] = named ?? ['', basename(given.trim().split(/\s/)[0] ?? ''), given];
  return orchestrator(name ?? '', ({ workflow }) => [
    '/bin/sh',
    '-c',
    `exec ${command} "$@"`,
    'sh',
    workflow,
  ]);
}

function orchestrator(name: string, commandFor: (task: Task) => readonly string[]): Orchestrator {
  const prepared = (task: Task) => {
    const [command = '', ...words] = commandFor(task);
    const texts = Object.entries(task.environment ?? {}).map(([key, value]) => [key, `${value}`]);
    const env = { ...process.env, ...Object.fromEntries(texts) };
    return { command, words, options: { cwd: task.project, env, stdio: 'ignore' } as const };
  };
  return {
    name,
    run(task) {
      const { command, words, options } = prepared(task);
      const begin = performance.now();
      const { status, signal, error } = spawnSync(command, words, options);
      const ms = performance.now() - begin;
      if (status !== 0) throw new Error(`exited with ${status ?? signal ?? error?.message}`);
      return ms;
    },
    start(task) {
      const { command, words, options } = prepared(task);
      return spawn(command, words, options);
    },
  };
}
