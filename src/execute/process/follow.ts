import type { FileHandle } from 'node:fs/promises';
import { type Changes, changesOf } from '../../files/changes.ts';
import type { OwnFile } from '../../files/own-file.ts';
import { openRegularFile } from '../../files/regular-file.ts';

const CHUNK_BYTES = 64 * 1024;
const MOST_READ_BYTES = 4 * CHUNK_BYTES;

interface Following {
  /** The byte offset to begin at, for a file that an earlier Raymond process has read in part. */
  readonly from?: number;
  /** When this settles, the bytes that are in the file by then are delivered, and following ends. */
  readonly until: Promise<unknown>;
  readonly pollMs?: number;
}

/**
 * The bytes of a file as it grows. They are read only after the caller asks for them, so a file of
 * any size needs little memory. A chunk is valid until the caller asks for the next one.
 */
export async function* follow(
  file: string | OwnFile,
  following: Following,
): AsyncGenerator<Buffer, void> {
  const changes = changesOf(typeof file === 'string' ? file : file.path, following.pollMs);
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
  let buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let offset = from;
  while (true) {
    const isLastRound = hasEnded();
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
      if (bytesRead === 0) break;
      offset += bytesRead;
      // A caller makes a text of each chunk, and V8 handles small texts faster.
      for (let at = 0; at < bytesRead; at += CHUNK_BYTES)
        yield buffer.subarray(at, Math.min(at + CHUNK_BYTES, bytesRead));
      // Most outputs are small. A large one is read with fewer calls.
      if (bytesRead === CHUNK_BYTES) buffer = Buffer.allocUnsafeSlow(MOST_READ_BYTES);
    }
    // A script that opens /dev/stdout again truncates the file.
    const { size } = await handle.stat();
    if (size < offset) offset = 0;
    else if (isLastRound) return;
    else await changes.next();
  }
}
