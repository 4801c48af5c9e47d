import { hostname } from 'node:os';
import { join } from 'node:path';
import { isAlive, processSpace, self } from '../execute/process/index.ts';
import { fileOccasions } from '../journal/file-occasions.ts';
import { type FileRuns, type FileRunsParts, fileRuns } from '../journal/file-runs.ts';
import { type Lock, takeLock } from '../journal/lock.ts';
import type { LocatedProcess } from '../journal/lock-owner.ts';
import { UserError } from '../model/user-error.ts';
import type { Clock, Occasions } from '../ports.ts';
import { userStateFolder } from './config/user-folders.ts';
import { runCodec } from './run-codec.ts';

/** Reserves the folder of a worker for this process, or throws a UserError. */
export async function lockFolder(
  { disk, clock, report }: Pick<StoredRunsParts, 'disk' | 'clock' | 'report'>,
  folder: string,
): Promise<Pick<Lock, 'release'>> {
  const here = { ...self(), space: processSpace(), host: hostname() };
  try {
    return await takeLock(disk, join(folder, 'lock'), { self: here, clock, isAlive, report });
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'run-locked') throw error;
    throw new UserError(
      'worker-exists',
      `Another worker uses the folder ${folder}.`,
      'Give this one another folder with --state, or another name with --name.',
    );
  }
}

/** The part of the store that reads and changes single runs. */
export function storedRuns({ disk, project, key, clock, report }: StoredRunsParts): FileRuns {
  // A process does not move, and a survey asks for each run.
  let known: LocatedProcess | undefined;
  return fileRuns({
    disk,
    project,
    key,
    codec: runCodec,
    lockWorld() {
      known ??= { ...self(), space: processSpace(), host: hostname() };
      return { self: known, clock, isAlive, report };
    },
  });
}

/** What started runs, or did not, without a person. */
export function storedOccasions({
  disk,
  clock,
  report,
}: Pick<StoredRunsParts, 'disk' | 'clock' | 'report'>): Occasions {
  let known: LocatedProcess | undefined;
  return fileOccasions({
    disk,
    folder: join(userStateFolder(), 'triggers'),
    lockWorld() {
      known ??= { ...self(), space: processSpace(), host: hostname() };
      return { self: known, clock, isAlive, report };
    },
  });
}

interface StoredRunsParts extends Pick<FileRunsParts, 'disk' | 'project' | 'key'> {
  readonly clock: Clock;
  readonly report: (text: string) => void;
}
