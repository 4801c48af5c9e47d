import { attempt } from '../../model/attempt.ts';
import type { StepMark } from './mark.ts';

/** One living process. A zombie has ended, so it is never listed. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Process group and session, where the platform reports them. */
  readonly group?: number;
  readonly session?: number;
  /** When the kernel started it; opaque. Two processes with the same pid never have the same value. */
  readonly started: string;
  /** A signal has stopped it: it does nothing until SIGCONT. */
  readonly suspended: boolean;
  readonly traces: Traces;
}

/** The signs of the step that a process was started in, where the platform shows them. */
export interface Traces {
  /** The tokens in its environment. */
  readonly tokens: readonly string[];
  /** The mark in its resource limits. */
  readonly limit: StepMark | undefined;
  /** The files behind its standard output and standard error. */
  readonly outputs: readonly string[];
}

export const NO_TRACES: Traces = { tokens: [], limit: undefined, outputs: [] };

/** The operating system's process table. */
export interface ProcessSystem {
  /** Names this boot of the machine. */
  boot(): string;
  /** The given processes that are alive, without traces. */
  look(pids: readonly number[]): readonly ProcessEntry[];
  /** Every living process; traces may be missing for processes older than `since`. */
  survey(since?: string): readonly ProcessEntry[];
  /** Sends a signal; a negative pid means a whole group. Ignores processes that cannot be signalled. */
  signal(pid: number, signal: NodeJS.Signals): void;
}

/** Pid and start time, which together identify a process within one boot. */
export type PidAndStart = Pick<ProcessEntry, 'pid' | 'started'>;

/** The same text for the same process only. */
export const nameOf = ({ pid, started }: PidAndStart): string => `${pid} ${started}`;

/** How Unix systems send a signal. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  // Otherwise it has ended, or it belongs to another user. The caller checks again what is alive.
  attempt(() => process.kill(pid, signal));
}
