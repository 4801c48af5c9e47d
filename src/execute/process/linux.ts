import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Mark, ProcessEntry, ProcessSystem } from './system.ts';
import { carriesToken } from './token.ts';
import { sendSignal } from './unix-signal.ts';

export const linux: ProcessSystem = {
  boot: () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),

  look: (pids) => pids.flatMap((pid) => entryOf(pid) ?? []),

  survey: (mark) =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => entryOf(Number(name)) ?? [])
      .map((entry) => (isMarked(entry, mark) ? { ...entry, marked: true } : entry)),

  signal: sendSignal,
};

function entryOf(pid: number): ProcessEntry | undefined {
  const stat = readOrNothing(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  return stat === undefined ? undefined : parseStat(stat);
}

/** Reads `/proc/<pid>/stat`. The name in parentheses may itself hold spaces and parentheses. */
export function parseStat(line: string): ProcessEntry | undefined {
  const pid = Number.parseInt(line, 10);
  const [state, parent, group, session, ...rest] = line
    .slice(line.lastIndexOf(')') + 1)
    .trim()
    .split(/\s+/);
  const started = rest[15];
  if (started === undefined || state === undefined || 'ZXx'.includes(state)) return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started,
    marked: false,
  };
}

function isMarked({ pid, started }: ProcessEntry, { token, since, outputs }: Mark): boolean {
  if (Number(started) < Number(since)) return false;
  const environment = readOrNothing(() => readFileSync(`/proc/${pid}/environ`, 'latin1'));
  if (environment !== undefined && carriesToken(environment, token)) return true;
  // A job that was given an empty environment still writes to the step's files.
  return [1, 2].some((fd) => {
    const target = readOrNothing(() => readlinkSync(`/proc/${pid}/fd/${fd}`));
    return target !== undefined && outputs.includes(target);
  });
}

/** A process may end, or belong to somebody else, while we look at it. */
function readOrNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
