import { spawnSync } from 'node:child_process';
import type { ProcessSystem } from './process-entry.ts';
import { bootQuery, parseProcesses, processQuery, taskkillArguments } from './windows.ts';

/** Windows shows no environment of other processes: a step's processes are found by descent only. */
export const windows: ProcessSystem = {
  boot: () => output('powershell.exe', bootQuery()).trim(),

  look: (pids) =>
    pids.length === 0 ? [] : parseProcesses(output('powershell.exe', processQuery(pids))),

  survey: () => parseProcesses(output('powershell.exe', processQuery())),

  signal(pid, signal) {
    // There is no stopped process to wake, and no group.
    if (signal !== 'SIGCONT' && pid > 0) output('taskkill.exe', taskkillArguments(pid, signal));
  },
};

function output(command: string, args: readonly string[]): string {
  return spawnSync(command, args, { encoding: 'utf8', windowsHide: true }).stdout ?? '';
}
