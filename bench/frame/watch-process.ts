// Asks the kernel about a process, which may be any program. Needs no other tool.
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Peak memory in MB. The kernel keeps the peak, so only the last moment before the end is lost. */
export async function peakMemoryMb(child: ChildProcess): Promise<number> {
  let peak = 0;
  await untilEnd(child, (pid) => {
    const kb = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    if (kb !== undefined) peak = Number(kb) / 1024;
  });
  if (child.exitCode !== 0) throw new Error(`exited with ${child.exitCode ?? child.signalCode}`);
  return peak;
}

/** The CPU milliseconds that its main thread uses from now until its end. */
export async function remainingCpuMs(child: ChildProcess): Promise<number> {
  const before = child.pid === undefined ? 0 : cpuMs(child.pid);
  let after = before;
  await untilEnd(child, (pid) => {
    after = cpuMs(pid);
  });
  return after - before;
}

function cpuMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

async function untilEnd(child: ChildProcess, look: (pid: number) => void): Promise<void> {
  while (child.exitCode === null && child.signalCode === null) {
    try {
      if (child.pid !== undefined) look(child.pid);
    } catch {
      // The process has ended, and its exit is about to be reported.
    }
    await delay(2);
  }
}
