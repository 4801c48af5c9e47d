// The process table of Windows, and the wrapper for commands.
import { spawnSync } from 'node:child_process';
import { NO_TRACES, type ProcessEntry, type ProcessSystem } from './process-entry.ts';

/** Windows does not show the environment of other processes, so only descent relates processes to a step. */
export const windows: ProcessSystem = {
  boot: () => output('powershell.exe', bootQuery()).trim(),

  look: (pids) =>
    pids.length === 0 ? [] : parseProcesses(output('powershell.exe', processQuery(pids))),

  survey: () => parseProcesses(output('powershell.exe', processQuery())),

  signal(pid, signal) {
    // Windows has neither stopped processes nor process groups.
    if (signal !== 'SIGCONT' && pid > 0) output('taskkill.exe', taskkillArguments(pid, signal));
  },
};

function output(command: string, args: readonly string[]): string {
  return spawnSync(command, args, { encoding: 'utf8', windowsHide: true }).stdout ?? '';
}

/** Ends a process and its descendants: asks them to close, or with SIGKILL forces them. */
export function taskkillArguments(pid: number, signal: NodeJS.Signals): readonly string[] {
  return ['/PID', String(pid), '/T', ...(signal === 'SIGKILL' ? ['/F'] : [])];
}

/** Lists all processes, or the given ones, as lines of `pid parent started`. */
export function processQuery(pids?: readonly number[]): readonly string[] {
  const filter = pids ? ` -Filter '${pids.map((pid) => `ProcessId=${pid}`).join(' OR ')}'` : '';
  return powershell(
    `Get-CimInstance Win32_Process${filter} | ForEach-Object { '{0} {1} {2}' -f $_.ProcessId, $_.ParentProcessId, $_.CreationDate.ToFileTimeUtc() }`,
  );
}

export function bootQuery(): readonly string[] {
  return powershell('(Get-CimInstance Win32_OperatingSystem).LastBootUpTime.ToFileTimeUtc()');
}

function powershell(command: string): readonly string[] {
  return ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', command];
}

/**
 * Parses lines of `pid parent started`. Windows keeps the pid of a parent that has ended, and may
 * reuse it. So a process that is younger than its supposed child is not the parent.
 */
export function parseProcesses(text: string): ProcessEntry[] {
  const rows = text.split(/\r?\n/).flatMap((line) => {
    const [, pid, parent, started] = /^(\d+) (\d+) (\d+)$/.exec(line.trim()) ?? [];
    return started === undefined ? [] : { pid: Number(pid), parent: Number(parent), started };
  });
  const startOf = new Map(rows.map((row) => [row.pid, BigInt(row.started)]));
  return rows.map((row) => {
    const parentStart = startOf.get(row.parent);
    const isParentGone = parentStart === undefined || parentStart > BigInt(row.started);
    const parent = isParentGone ? 0 : row.parent;
    return { ...row, parent, suspended: false, traces: NO_TRACES };
  });
}

/** Node is the wrapper, because no Windows shell passes arguments on unchanged. */
export function windowsWrapper(
  node: string,
  folder: string,
  command: string,
  args: readonly string[],
): readonly [string, readonly string[]] {
  return [node, ['-e', NODE_WRAPPER, '--', folder, command, ...args]];
}

const NODE_WRAPPER = `
const { spawn } = require('node:child_process');
const { writeFileSync } = require('node:fs');
const { Socket } = require('node:net');
const [folder, command, ...args] = process.argv.slice(1);
const end = (how, code, word = '') => {
  try {
    // Overwrites the reserved bytes. If the file does not exist, no process waits for it.
    writeFileSync(folder + '/exit-' + process.pid, how + ' ' + code + word + '\\n', { flag: 'r+' });
  } finally {
    process.exit(code);
  }
};
const gate = new Socket({ fd: 3 });
gate.once('error', () => end('unstarted', 0));
gate.once('end', () => end('unstarted', 0));
gate.once('data', (line) => {
  gate.removeAllListeners('end').destroy();
  const child = spawn(command, args, { stdio: 'inherit', windowsHide: true });
  child.once('error', (error) => end('unstarted', error.code === 'ENOENT' ? 127 : 126));
  const word = ':' + line.toString().trim();
  child.once('exit', (code) => end('exited', code ?? 1, code === 0 ? word : ''));
});`;
