import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { isShortage } from '../../model/shortage.ts';
import { limitMark, tokensIn } from './mark.ts';
import {
  NO_TRACES,
  type ProcessEntry,
  type ProcessSystem,
  sendSignal,
  type Traces,
} from './process-entry.ts';

export const linux: ProcessSystem = {
  boot: () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),

  look: (pids) => pids.flatMap((pid) => entryOf(pid) ?? []),

  survey: (since = '0') =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => entryOf(Number(name)) ?? [])
      .map((entry) =>
        Number(entry.started) < Number(since) ? entry : { ...entry, traces: tracesOf(entry.pid) },
      ),

  signal: sendSignal,
};

function entryOf(pid: number): ProcessEntry | undefined {
  const stat = readOrNothing(() => readStart(`/proc/${pid}/stat`));
  return stat === undefined ? undefined : parseStat(stat);
}

/** Parses `/proc/<pid>/stat`. The name in parentheses may itself contain spaces and parentheses. */
export function parseStat(line: string): ProcessEntry | undefined {
  const pid = Number.parseInt(line, 10);
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ', 20);
  const [state, parent, group, session] = fields;
  const started = fields[19];
  if (started === undefined || state === undefined || 'ZXx'.includes(state)) return undefined;
  return {
    pid,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    started,
    suspended: 'Tt'.includes(state),
    traces: NO_TRACES,
  };
}

function tracesOf(pid: number): Traces {
  const environment = readOrNothing(() => readFileSync(`/proc/${pid}/environ`, 'latin1'));
  const limits = readOrNothing(() => readStart(`/proc/${pid}/limits`));
  const outputs = [1, 2].map((fd) => readOrNothing(() => readlinkSync(`/proc/${pid}/fd/${fd}`)));
  return {
    tokens: tokensIn(environment ?? ''),
    limit: limitMark(limits ?? ''),
    outputs: outputs.filter((file) => file !== undefined),
  };
}

const START = Buffer.allocUnsafe(4096);

/** Reads a short file, which the kernel returns in one read. One read is cheaper than reading to the end. */
function readStart(file: string): string {
  const descriptor = openSync(file, 'r');
  try {
    return START.toString('latin1', 0, readSync(descriptor, START));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * The process may end during the read, or belong to another user. A shortage of file handles is
 * thrown: otherwise a living process would seem to have ended.
 */
function readOrNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isShortage(error)) throw error;
    return undefined;
  }
}
