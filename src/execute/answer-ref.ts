/** Makes a reference to the answer of a step, which shows later whether a text is still that answer. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import type { RunEventOf } from '../model/event.ts';
import type { AnswerRef } from '../model/step-account.ts';
import type { StepRecords } from '../ports.ts';

export function answerRef(text: string): AnswerRef {
  const meter = answerMeter();
  meter.add(text);
  return meter.ref();
}

/** A reference to the first `bytes` of a file, which may be too large for memory. */
export async function answerRefOf(file: string, bytes: number): Promise<AnswerRef> {
  const meter = answerMeter();
  const decoder = new StringDecoder('utf8');
  if (bytes > 0)
    for await (const chunk of createReadStream(file, { end: bytes - 1 }))
      meter.add(decoder.write(chunk));
  meter.add(decoder.end());
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

/** Measures the decoded text, because the bytes that a program wrote may not be valid UTF-8. */
function answerMeter() {
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    add(text: string): void {
      const encoded = Buffer.from(text);
      bytes += encoded.length;
      hash.update(encoded);
    },
    ref: (): AnswerRef => ({ bytes, sha256: hash.digest('hex') }),
  };
}
