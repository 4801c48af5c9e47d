import type { ProcessEntry } from './process-entry.ts';

/** Pid and start time, which together identify a process within one boot. */
export type PidAndStart = Pick<ProcessEntry, 'pid' | 'started'>;

/** The same text for the same process only. */
export function nameOf({ pid, started }: PidAndStart): string {
  return `${pid} ${started}`;
}

export function isSame(a: PidAndStart, b: PidAndStart): boolean {
  return a.pid === b.pid && a.started === b.started;
}
