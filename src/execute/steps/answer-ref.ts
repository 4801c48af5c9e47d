/** Makes a reference to the answer of a step, which shows later whether a text is still that answer. */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { OwnFile } from '../../files/own-file.ts';
import { openRegularFile } from '../../files/regular-file.ts';
import type { RunEventOf } from '../../model/event.ts';
import type { AnswerRef } from '../../model/step-account.ts';
import type { StepRecords } from '../../ports.ts';

export function answerRef(text: string): AnswerRef {
  const meter = answerMeter();
  meter.add(Buffer.from(text));
  return meter.ref();
}

const BLOCK_BYTES = 1024 * 1024;

interface Reading {
  readonly blockBytes?: number;
  /** Gets each block of the file, so that another reader does not have to read it again. */
  readonly look?: (block: Buffer, at: number) => void;
}

/**
 * A reference to the first `bytes` of a file, which may be too large for memory. A thread reads the
 * next block while this one measures the last one.
 */
export async function answerRefOf(
  file: string | OwnFile,
  bytes: number,
  { blockBytes = BLOCK_BYTES, look }: Reading = {},
): Promise<AnswerRef> {
  const meter = answerMeter();
  const rooms = [Buffer.allocUnsafeSlow(blockBytes), Buffer.allocUnsafeSlow(blockBytes)] as const;
  const handle = await openRegularFile(file);
  const read = async (room: Buffer, at: number) => {
    const { bytesRead } = await handle.read(room, 0, Math.min(blockBytes, bytes - at), at);
    return room.subarray(0, bytesRead);
  };
  try {
    let next = read(rooms[0], 0);
    for (let at = 0, turn = 1; ; turn += 1) {
      const block = await next;
      if (block.length === 0) break;
      next = read(rooms[turn % 2 === 0 ? 0 : 1], at + block.length);
      meter.add(block);
      look?.(block, at);
      at += block.length;
    }
  } finally {
    await handle.close();
  }
  return meter.ref();
}

/**
 * The text that decided a step, from the records of its run. Undefined when it was not kept, is too
 * large, or is not the same any more. Events of version 1 have no reference: `name` says where to look.
 */
export async function answerText(
  records: Pick<StepRecords, 'read'>,
  event: RunEventOf<'step-ended'>,
  maxBytes: number,
  name: 'answer' | 'stdout' = event.session ? 'answer' : 'stdout',
): Promise<string | undefined> {
  const kept = await records.read(event, name, maxBytes);
  const text = kept && Buffer.from(kept).toString('utf8');
  if (text === undefined || !event.answer) return text;
  return answerRef(text).sha256 === event.answer.sha256 ? text : undefined;
}

/**
 * Measures the decoded text, because the bytes that a program wrote may not be valid UTF-8. Valid
 * bytes are the same when they are decoded and encoded again, so this is done only to others.
 */
function answerMeter() {
  const hash = createHash('sha256');
  let bytes = 0;
  let cutCharacter = Buffer.alloc(0);
  const measure = (part: Buffer) => {
    const valid = isUtf8(part) ? part : Buffer.from(part.toString('utf8'));
    bytes += valid.length;
    hash.update(valid);
  };
  return {
    add(block: Buffer): void {
      const all = cutCharacter.length === 0 ? block : Buffer.concat([cutCharacter, block]);
      const end = all.length - cutCharacterLength(all);
      measure(all.subarray(0, end));
      cutCharacter = Buffer.from(all.subarray(end));
    },
    ref(): AnswerRef {
      measure(cutCharacter);
      return { bytes, sha256: hash.digest('hex') };
    },
  };
}

/** The number of bytes at the end that begin a character and do not complete it. */
function cutCharacterLength(bytes: Buffer): number {
  for (let length = 1; length <= 3; length += 1) {
    const byte = bytes[bytes.length - length] ?? 0;
    if (byte >= FIRST_OF_FOUR) return length < 4 ? length : 0;
    if (byte >= FIRST_OF_THREE) return length < 3 ? length : 0;
    if (byte >= FIRST_OF_TWO) return length < 2 ? length : 0;
    if (byte < FIRST_CONTINUATION) return 0;
  }
  return 0;
}

const FIRST_OF_FOUR = 0xf0;
const FIRST_OF_THREE = 0xe0;
const FIRST_OF_TWO = 0xc0;
const FIRST_CONTINUATION = 0x80;
