/**
 * The files of a step's folder, while the step is new and when it is old. Besides those of its process
 * (see `process/record.ts`), an executor of prompts leaves
 * - `turn.json`: what has to be known of a turn to adopt it; the folder of its process in `process`
 * - `raw.json`: where the agent's own messages stand, one JSON value a line
 * - `answer`: the final message
 *
 * Of an old prompt step, `stdout`, `stderr` and `answer` are compressed (`.gz`). An old script step is
 * gone, up to a line in `older.jsonl` beside it. Nothing depends on what is left for those who look
 * later, so trouble with it is no trouble of the step.
 */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { MOST_REMAINING_BYTES, olderLine } from '../files/older-steps.ts';
import { readPartSync, readRegularFileSync, UnusableFile } from '../files/regular-file.ts';

/** The final message. */
export function leaveAnswer(folder: string, text: string): void {
  leave(join(folder, 'answer'), text);
}

/** Where the agent's own messages stand, one JSON value a line. */
export function leaveRaw(folder: string, raw: Raw): void {
  leave(join(folder, 'raw.json'), JSON.stringify(raw));
}

function leave(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    // The step itself is safe.
  }
}

const rawSchema = z.object({ file: z.string(), from: z.number(), to: z.number() });
type Raw = z.infer<typeof rawSchema>;

export type StepKind = 'prompt' | 'script';

/** Whether the files of a folder are those of a prompt; they were paid for. */
export function isPromptFolder(names: readonly string[]): boolean {
  return names.some((name) => /^(turn\.json|raw\.json|answer(\.gz)?)$/.test(name));
}

/** The files of a prompt step that are kept when it is old, and compressed. */
export const COMPRESSED: readonly string[] = ['stdout', 'stderr', 'answer'];

/** The folder of the process that answers a prompt step, which may have begun with an earlier one. */
export function processFolderOf(folder: string): string | undefined {
  const turn = parsed(readKept(join(folder, 'turn.json'), SMALL_BYTES));
  return z.safeParse(z.object({ process: z.string() }), turn).data?.process;
}

const SMALL_BYTES = 1024 * 1024;

/** What remains of an old script step; nothing when its output is too long for that. */
export function remainsOf(folder: string): string | undefined {
  const stdout = readKept(join(folder, 'stdout'), MOST_REMAINING_BYTES)?.toString('utf8');
  if (stdout === undefined) return undefined;
  return olderLine(Number(basename(folder)), stdout);
}

/** All that an agent or a script said, as JSON values. What is too large is only named. */
export function saidIn(folder: string, kind: StepKind): readonly unknown[] {
  return kind === 'prompt' ? messagesIn(folder) : printedIn(folder);
}

const MOST_SAID_BYTES = 32 * 1024 * 1024;

function messagesIn(folder: string): readonly unknown[] {
  const { data } = z.safeParse(rawSchema, parsed(readKept(join(folder, 'raw.json'), SMALL_BYTES)));
  if (!data) return [];
  const { file, from, to } = data;
  if (to - from > MOST_SAID_BYTES) return [{ type: 'too-large', file, from, to }];
  return readKeptPart(file, from, to).toString('utf8').split('\n').flatMap(messageIn);
}

/** Noise between the messages is left out. */
function messageIn(line: string): readonly unknown[] {
  const message = line.startsWith('{') ? parsed(line) : undefined;
  return message === undefined ? [] : [message];
}

function printedIn(folder: string): readonly unknown[] {
  const file = join(folder, 'stdout');
  try {
    return [{ type: 'content', text: readRegularFileSync(file, MOST_SAID_BYTES).toString('utf8') }];
  } catch (error) {
    const isTooLarge = error instanceof UnusableFile && error.code === 'TOO-LARGE';
    return isTooLarge ? [{ type: 'too-large', file }] : [];
  }
}

/** A file as it is or compressed; undefined when there is neither, or it is too large. */
function readKept(file: string, maxBytes: number): Buffer | undefined {
  try {
    return readRegularFileSync(file, maxBytes);
  } catch {
    try {
      return unzipped(file, maxBytes);
    } catch {
      return undefined;
    }
  }
}

function readKeptPart(file: string, from: number, to: number): Buffer {
  try {
    return readPartSync(file, from, to - from);
  } catch {
    try {
      return unzipped(file, MOST_UNZIPPED_BYTES).subarray(from, to);
    } catch {
      return Buffer.alloc(0);
    }
  }
}

const MOST_ZIPPED_BYTES = 256 * 1024 * 1024;
const MOST_UNZIPPED_BYTES = 512 * 1024 * 1024;

function unzipped(file: string, maxBytes: number): Buffer {
  const zipped = readRegularFileSync(`${file}.gz`, MOST_ZIPPED_BYTES);
  return gunzipSync(zipped, { maxOutputLength: Math.max(maxBytes, 1) });
}

function parsed(text: Buffer | string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
