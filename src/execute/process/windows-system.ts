import { spawnSync } from 'node:child_process';
import type { ProcessSystem } from './process-entry.ts';
import { bootQuery, parseProcesses, processQuery, taskkillArguments } from './windows.ts';

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
