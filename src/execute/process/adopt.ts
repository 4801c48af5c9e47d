import { realpathSync } from 'node:fs';
import { changesOf } from '../../files/changes.ts';
import type { StepSeals } from '../steps/step-seals.ts';
import { fifoOf, openForWriting } from './fifo.ts';
import { isAlive } from './identity.ts';
import type { ProcessHandle } from './launch.ts';
import { readLaunch, withdraw } from './launch-file.ts';
import {
  type Exit,
  endFileOf,
  LEFT,
  type OwnRecord,
  ownRecord,
  readExit,
  UNKNOWN,
} from './record.ts';

/** See `RunProcesses.adopt`. */
export function adopt(seals: StepSeals, folder: string): ProcessHandle | 'foreign' | undefined {
  const found = ownRecord(seals, folder) ?? recordUnlessWithdrawn(seals, folder);
  if (found === undefined || found === 'foreign') return found;
  const real = realpathSync(folder);
  const fifo = openForWriting(fifoOf(real), found.files.stdin);
  return { folder: real, record: found, ...(fifo && { fifo }), ...endOfAdopted(real, found) };
}

/** A launcher may still have the request: then the command either begins before this, or never. */
function recordUnlessWithdrawn(seals: StepSeals, folder: string) {
  if (readLaunch(folder) === undefined || withdraw(folder)) return undefined;
  return ownRecord(seals, folder);
}

function endOfAdopted(folder: string, record: OwnRecord): Pick<ProcessHandle, 'ended' | 'leave'> {
  const changes = changesOf(endFileOf(folder, record), 1000);
  let isLeft = false;
  const ended = waitForExit({
    isAlive: () => isAlive(record.identity),
    readExit: () => (isLeft ? LEFT : readExit(folder, record)),
    change: () => changes.next(),
  }).finally(() => changes.close());
  const leave = () => {
    isLeft = true;
    changes.wake();
  };
  return { ended, leave };
}

/** The facts about a process that can be read without being its parent. */
export interface ExitProbe {
  isAlive(): boolean;
  readExit(): Exit | undefined;
  /** Resolves when it is time to look again. */
  change(): Promise<void>;
}

export async function waitForExit({ isAlive, readExit, change }: ExitProbe): Promise<Exit> {
  while (true) {
    // The order matters: the wrapper writes the exit file first and ends afterwards.
    const wasAlive = isAlive();
    const exit = readExit();
    if (exit !== undefined) return exit;
    if (!wasAlive) return UNKNOWN;
    await change();
  }
}
