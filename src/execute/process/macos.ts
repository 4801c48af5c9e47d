import { spawnSync } from 'node:child_process';
import { tokensIn } from './mark.ts';
import { NO_TRACES, type ProcessEntry, type ProcessSystem, sendSignal } from './process-entry.ts';

const COLUMNS = 'pid=,ppid=,pgid=,state=,lstart=,command=';

export const macos: ProcessSystem = {
  boot: () => output('sysctl', ['-n', 'kern.bootsessionuuid']).trim(),

  look: (pids) =>
    pids.length === 0 ? [] : parsePs(output('ps', ['-o', COLUMNS, '-p', pids.join(',')])),

  survey: () => parsePs(output('ps', ['-axEww', '-o', COLUMNS])),

  signal: sendSignal,
};

/**
 * Parses lines of pid, parent, group, state, start time (`Sat Nov 15 21:57:03 2025`, whole seconds)
 * and command. With `ps -E`, the environment follows the command.
 */
export function parsePs(text: string): ProcessEntry[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, started, command] = LINE.exec(line) ?? [];
    if (started === undefined || state?.startsWith('Z')) return [];
    return {
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      started: started.replace(/\s+/g, ' '),
      suspended: state?.startsWith('T') ?? false,
      traces: { ...NO_TRACES, tokens: tokensIn(command ?? '') },
    };
  });
}

const LINE =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\d+\s+\d+:\d+:\d+\s+\d+)(?:\s+(.*))?$/;

/** Another Raymond process compares the times, so they must not depend on the user's locale or time zone. */
function output(command: string, args: readonly string[]): string {
  const env = { PATH: '/bin:/usr/bin:/sbin:/usr/sbin', LC_ALL: 'C', TZ: 'UTC0' };
  const options = { env, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 } as const;
  return spawnSync(command, args, options).stdout ?? '';
}
