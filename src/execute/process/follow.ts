import type { FileHandle } from 'node:fs/promises';
import { openRegularFile } from '../../files/regular-file.ts';
import { type Changes, changesOf } from './changes.ts';

const CHUNK_BYTES = 64 * 1024;

export interface Following {
  /** Where to begin, in bytes; for one that goes on after another Raymond. */
  readonly from?: number;
  /** When this resolves, what is in the file by then is still delivered, and that is the end. */
  readonly until: Promise<unknown>;
  readonly pollMs?: number;
}

/**
 * The bytes of a file as it grows. The next chunk is read when the former was taken, so a file of
 * any size costs one chunk of memory.
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
      yield* growth(handle, following.from ?? 0, changes, () => hasEnded);
    } finally {
      await handle.close();
    }
  } finally {
    changes.close();
  }
}

async function* growth(
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
    // A script that opens /dev/stdout anew empties the file and begins it again.
    const { size } = await handle.stat();
    if (size < offset) offset = 0;
    else if (isLastRound) return;
    else await changes.next();
  }
}
