/**
 * The outputs of script steps whose folders were removed because of their age. Each is one line of a
 * file beside the folders of the agent's steps.
 */
import { join } from 'node:path';
import * as z from 'zod/mini';

export const olderFileOf = (agentFolder: string): string => join(agentFolder, 'older.jsonl');

/** The line for a step; undefined when the output is too long to keep. */
export function olderLine(step: number, stdout: string): string | undefined {
  // Starts a new line, because a crash may have cut off the line before it.
  const line = `\n${JSON.stringify({ step, stdout })}\n`;
  return Buffer.byteLength(line) <= MOST_REMAINING_BYTES ? line : undefined;
}

export const MOST_REMAINING_BYTES = 1024;

/** The outputs in such a file, by step. Skips a line that a crash cut off. */
export function olderOutputs(text: string): ReadonlyMap<number, string> {
  const lines = text.split('\n').flatMap((line) => {
    const { data } = z.safeParse(olderSchema, parsed(line));
    return data ? [[data.step, data.stdout] as const] : [];
  });
  return new Map(lines);
}

export const MOST_OLDER_BYTES = 256 * 1024 * 1024;

const olderSchema = z.object({ step: z.number(), stdout: z.string() });

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
