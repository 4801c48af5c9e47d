/**
 * The files of a step's folder (see `model/step-files.ts`), while the step is new and when it is old.
 *
 * Files of an old prompt step are compressed (`.gz`). An old script step is
 * reduced to a line in `older.jsonl` beside it. The run itself does not need `raw.json`, `prompt` and
 * `answer`, so an error while they are written does not fail the step.
 */
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { MOST_REMAINING_BYTES, olderLine } from '../../files/older-steps.ts';
import { writeOwnFile } from '../../files/own-file.ts';
import { readPartSync, readRegularFileSync, UnusableFile } from '../../files/regular-file.ts';
import { attempt, parsed } from '../../model/attempt.ts';
import { STEP_FILES, type StepFile } from '../../model/step-files.ts';
import { tailIfReadable } from './file-text.ts';

/** Writes the final message. */
export function writeAnswer(folder: string, text: string): void {
  writeOptional(join(folder, STEP_FILES.answer.name), text);
}

/** Writes the text that the agent gets. */
export function writePrompt(folder: string, text: string): void {
  writeOptional(join(folder, STEP_FILES.prompt.name), text);
}

/** Writes the place of the agent's own messages, one JSON value per line. */
export function writeRawLocation(folder: string, raw: Raw): void {
  writeOptional(join(folder, STEP_FILES.raw.name), JSON.stringify(raw));
}

function writeOptional(file: string, text: string): void {
  // The step does not depend on this file.
  attempt(() => writeOwnFile(file, text));
}

const rawSchema = z.object({ file: z.string(), from: z.number(), to: z.number() });
export type Raw = z.infer<typeof rawSchema>;

export type StepKind = 'prompt' | 'script';

const FILES: readonly StepFile[] = Object.values(STEP_FILES);

/** Whether the files of a folder are those of a prompt step, which cost money. */
export function isPromptFolder(names: readonly string[]): boolean {
  const ofPrompts = FILES.filter(({ isOfPrompt }) => isOfPrompt).map(({ name }) => name);
  return names.some((name) => ofPrompts.includes(name.replace(/\.gz$/, '')));
}

/** The files of a prompt step that are compressed when it is old. */
export const COMPRESSED: readonly string[] = FILES.filter(({ isCompressed }) => isCompressed).map(
  ({ name }) => name,
);

/** The folder of the process that answers a prompt step; an earlier step may have started it. */
export function processFolderOf(folder: string): string | undefined {
  const turn = parsed(readKept(join(folder, STEP_FILES.turn.name), SMALL_BYTES));
  return z.safeParse(z.object({ process: z.string() }), turn).data?.process;
}

const SMALL_BYTES = 1024 * 1024;

/** The line that remains of an old script step; undefined if its output is too long. */
export function remainsOf(folder: string): string | undefined {
  const stdout = readKept(join(folder, STEP_FILES.stdout.name), MOST_REMAINING_BYTES);
  if (stdout === undefined) return undefined;
  return olderLine(Number(basename(folder)), stdout);
}

/** All messages of an agent, or the output of a script, as JSON values. A large file is only named. */
export function stepMessages(folder: string, kind: StepKind): readonly unknown[] {
  return kind === 'prompt' ? messagesIn(folder) : printedIn(folder);
}

const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** The place of the agent's own messages; undefined while the step runs. */
export function rawLocation(folder: string): Raw | undefined {
  const text = readKept(join(folder, STEP_FILES.raw.name), SMALL_BYTES);
  return z.safeParse(rawSchema, parsed(text)).data;
}

function messagesIn(folder: string): readonly unknown[] {
  const data = rawLocation(folder);
  if (!data) return [];
  const { file, from, to } = data;
  if (to - from > MAX_MESSAGE_BYTES) return [{ type: 'too-large', file, from, to }];
  return readKeptPart(file, from, to).toString('utf8').split('\n').flatMap(messageIn);
}

/** Ignores other text between the messages. */
function messageIn(line: string): readonly unknown[] {
  const message = line.startsWith('{') ? parsed(line) : undefined;
  return message === undefined ? [] : [message];
}

function printedIn(folder: string): readonly unknown[] {
  const file = join(folder, STEP_FILES.stdout.name);
  try {
    const said = errorsIn(folder);
    return [
      { type: 'content', text: readRegularFileSync(file, MAX_MESSAGE_BYTES).toString('utf8') },
      ...(said === '' ? [] : [{ type: 'stderr', text: said }]),
    ];
  } catch (error) {
    const isTooLarge = error instanceof UnusableFile && error.code === 'TOO-LARGE';
    return isTooLarge ? [{ type: 'too-large', file }] : [];
  }
}

/** The end of the standard error of a script; empty if there is none. */
export function errorsIn(folder: string): string {
  return tailIfReadable(join(folder, STEP_FILES.stderr.name), MOST_ERRORS_BYTES);
}

const MOST_ERRORS_BYTES = 64 * 1024;

/** Reads a file or its compressed form; undefined if neither exists or it is too large. */
export function readKept(file: string, maxBytes: number): string | undefined {
  const plain = attempt(() => readRegularFileSync(file, maxBytes));
  return (plain ?? attempt(() => unzipped(file, maxBytes)))?.toString('utf8');
}

/** A part of such a file; empty if it cannot be read. */
export function readKeptPart(file: string, from: number, to: number): Buffer {
  return (
    attempt(() => readPartSync(file, from, to - from)) ??
    attempt(() => unzipped(file, MAX_UNZIPPED_BYTES).subarray(from, to)) ??
    Buffer.alloc(0)
  );
}

const MAX_ZIPPED_BYTES = 256 * 1024 * 1024;
const MAX_UNZIPPED_BYTES = 512 * 1024 * 1024;

function unzipped(file: string, maxBytes: number): Buffer {
  const zipped = readRegularFileSync(`${file}.gz`, MAX_ZIPPED_BYTES);
  return gunzipSync(zipped, { maxOutputLength: Math.max(maxBytes, 1) });
}
