import type { StepMark } from './mark.ts';

/** One living process. A zombie has ended and is never listed. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Process group and session, where the platform tells them. */
  readonly group?: number;
  readonly session?: number;
  /** When the kernel started it: opaque, equal only for the same process. */
  readonly started: string;
  /** It was stopped by a signal, and does nothing until it is continued. */
  readonly suspended: boolean;
  readonly traces: Traces;
}

/** What a process has of the step that it began in, as far as the platform shows it. */
export interface Traces {
  /** The tokens in its environment. */
  readonly tokens: readonly string[];
  /** The mark in its resource limits. */
  readonly limit: StepMark | undefined;
  /** The files that are its standard output and standard error. */
  readonly outputs: readonly string[];
}

export const NO_TRACES: Traces = { tokens: [], limit: undefined, outputs: [] };

/** The operating system's process table. */
export interface ProcessSystem {
  /** Names this boot of the machine. */
  boot(): string;
  /** Those of the given processes that live, without traces. */
  look(pids: readonly number[]): readonly ProcessEntry[];
  /** Every living process; traces may be missing for those that are older than `since`. */
  survey(since?: string): readonly ProcessEntry[];
  /** Sends a signal; a negative pid means a whole group. What cannot be reached is passed over. */
  signal(pid: number, signal: NodeJS.Signals): void;
}
