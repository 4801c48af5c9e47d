import type { FileHandle } from 'node:fs/promises';
import { type Changes, changesOf } from '../../files/changes.ts';
import { openRegularFile } from '../../files/regular-file.ts';

const CHUNK_BYTES = 64 * 1024;

export interface Following {
  /** The byte offset to begin at, for a file that an earlier Raymond process has read in part. */
  readonly from?: number;
  /** When this settles, the bytes that are in the file by then are delivered, and following ends. */
  readonly until: Promise<unknown>;
  readonly pollMs?: number;
}

/**
 * The bytes of a file as it grows. The next chunk is read only after the caller asks for it, so a
 * file of any size needs one chunk of memory.
 */
export async function* follow(file: string, following: Following): AsyncGenerator<Buffer, void> {
  const changes = changesOf(file, following.pollMs);
  let hasEnded = false;
  const onEnd = () => {
    hasEnded = true;
    changes.wake();
  };
  following.until.then(onEnd, onEnd);
  try {
    const handle = await openRegularFile(file);
    try {
      yield* readAsItGrows(handle, following.from ?? 0, changes, () => hasEnded);
    } finally {
      await handle.close();
    }
  } finally {
    changes.close();
  }
}

async function* readAsItGrows(
  handle: FileHandle,
  from: number,
  changes: Changes,
  hasEnded: () => boolean,
): AsyncGenerator<Buffer, void> {
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let offset = from;
  while (true) {
    const isLastRound = hasEnded();
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, offset);
      if (bytesRead === 0) break;
      offset += bytesRead;
      yield Buffer.from(buffer.subarray(0, bytesRead));
    }
    // A script that opens /dev/stdout again truncates the file.
    const { size } = await handle.stat();
    if (size < offset) offset = 0;
    else if (isLastRound) return;
    else await changes.next();
  }
}
