import { linux } from './linux.ts';
import { macos } from './macos.ts';
import { windows } from './windows-system.ts';

/** One living process. A zombie has ended and is never listed. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  /** Process group and session, where the platform tells them. */
  readonly group?: number;
  readonly session?: number;
  /** When the kernel started it: opaque, equal only for the same process. */
  readonly started: string;
  /** It carries the step's mark: the token in its environment, or the step's files as its output. */
  readonly marked: boolean;
}

/** What tells the processes of one step from all others, wherever they moved to. */
export interface Mark {
  readonly token: string;
  /** Start of the step's first process: nothing older can belong to it. */
  readonly since: string;
  readonly outputs: readonly string[];
}

/** The operating system's process table. */
export interface ProcessSystem {
  /** Names this boot of the machine. */
  boot(): string;
  /** Those of the given processes that live. */
  look(pids: readonly number[]): readonly ProcessEntry[];
  /** Every living process. */
  survey(mark: Mark): readonly ProcessEntry[];
  /** Sends a signal; a negative pid means a whole group. What cannot be reached is passed over. */
  signal(pid: number, signal: NodeJS.Signals): void;
}

export const system: ProcessSystem = systemOf(process.platform);

function systemOf(platform: NodeJS.Platform): ProcessSystem {
  if (platform === 'win32') return windows;
  return platform === 'linux' ? linux : macos;
}
