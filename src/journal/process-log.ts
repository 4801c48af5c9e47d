/**
 * The standard error of a background process: what it said after its start, and why it crashed. The
 * command that starts the process opens the file under another name. The process gives it the final
 * name when its run has begun. So a refused start does not replace the file of the run's owner.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, readSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { attempt } from '../model/attempt.ts';
import type { ProcessLog, StartingLog } from '../ports.ts';
import { type Disk, makeFolder } from './disk.ts';
import { checkRunFolder, type RunPaths } from './project.ts';

export function processLogOf(disk: Disk, paths: RunPaths): ProcessLog {
  const { processLog: path, folder } = paths;
  return {
    path,
    async open() {
      await checkRunFolder(disk, paths);
      await makeFolder(disk, folder);
      return startingLog(`${path}.${randomUUID()}`, folder);
    },
    keep: (starting) => renameSync(starting, path),
  };
}

/** Appending: the process may empty its file, and then continues at the beginning. */
const NEW_FOR_APPEND = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND;

function startingLog(path: string, folder: string): StartingLog {
  const descriptor = openSync(path, NEW_FOR_APPEND, 0o600);
  return {
    path,
    descriptor,
    close: () => closeSync(descriptor),
    text() {
      const bytes = Buffer.alloc(MOST_SHOWN_BYTES);
      return bytes.toString('utf8', 0, readSync(descriptor, bytes, { position: 0 }));
    },
    remove() {
      rmSync(path, { force: true });
      // Fails if the folder contains the files of a run.
      attempt(() => rmdirSync(folder));
    },
  };
}

const MOST_SHOWN_BYTES = 64 * 1024;
