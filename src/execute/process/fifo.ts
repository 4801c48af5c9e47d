/**
 * A FIFO as the standard input of a process. The process opens it for reading and writing, so it
 * never sees an end of its input. It outlives Raymond while it waits, and a later Raymond process can
 * write to it. Windows has no FIFOs.
 */
import { execFile } from 'node:child_process';
import { closeSync, constants, fstatSync, mkdirSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { promisify } from 'node:util';
import { type FileIdentity, identityOf } from '../../files/own-file.ts';
import { STEP_FILES } from '../../model/step-files.ts';

export const fifoOf = (folder: string): string => join(folder, STEP_FILES.stdin.name);

/** Makes the FIFO of a folder, for `launch`. Node cannot make one, so a program does. */
export async function makeFifo(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = fifoOf(folder);
  // A process that was killed before its launch has left one.
  await rm(path, { force: true });
  const env = { PATH: `/usr/bin:/bin:${process.env.PATH ?? ''}` };
  await promisify(execFile)('mkfifo', ['-m', '600', path], { env });
}

/** Opens the FIFO as the standard input of a child. This never waits for a writer. */
export function openForReading(path: string): number {
  return openFifo(path, constants.O_RDWR);
}

/**
 * Opens the FIFO to write to the process. Undefined if it is not the one that the process reads. Writes
 * never block this process, and a text that no process reads is lost.
 */
export function openForWriting(
  path: string,
  identity: FileIdentity | undefined,
): Writable | undefined {
  if (identity === undefined) return undefined;
  try {
    const descriptor = openFifo(path, constants.O_RDWR | constants.O_NONBLOCK);
    if (identityOf(descriptor) !== identity) {
      closeSync(descriptor);
      return undefined;
    }
    const stream = new Socket({ fd: descriptor, readable: false, writable: true });
    return stream.on('error', () => {});
  } catch {
    return undefined;
  }
}

/** Opens nothing but a FIFO: agents can write into the folder. */
function openFifo(path: string, flags: number): number {
  const descriptor = openSync(path, flags | constants.O_NOFOLLOW);
  if (fstatSync(descriptor).isFIFO()) return descriptor;
  closeSync(descriptor);
  throw new Error(`${path} is not a FIFO.`);
}
