/** The records of the steps of a run: the files in their folders, and their trees of files. */
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as z from 'zod/mini';
import { MOST_OLDER_BYTES, olderFileOf, olderOutputs } from '../files/older-steps.ts';
import type { RecordName, RunFolders, StepKey, StepRecords } from '../ports.ts';
import { type Disk, makeFolder, readBytes, replaceWith, thenClose, writeAll } from './disk.ts';

/** The paths of the records. */
interface RecordPaths {
  readonly folders: Pick<RunFolders, 'step'>;
  readonly trees: string;
}

export function fileRecords(disk: Disk, { folders, trees }: RecordPaths): StepRecords {
  const older = new Map<string, ReadonlyMap<number, string>>();
  const olderIn = async (agentFolder: string) => {
    const known = older.get(agentFolder);
    if (known) return known;
    const text = await readIfPossible(disk, olderFileOf(agentFolder), MOST_OLDER_BYTES);
    const outputs = olderOutputs(text?.toString('utf8') ?? '');
    older.set(agentFolder, outputs);
    return outputs;
  };
  let known: ReadonlyMap<string, string> | undefined;
  return {
    async read({ agent, step }, name, maxBytes) {
      const folder = folders.step(agent, step);
      const kept = await readKept(disk, join(folder, name), maxBytes);
      if (kept || name !== 'stdout') return kept;
      const output = (await olderIn(dirname(folder))).get(step);
      return output === undefined ? undefined : Buffer.from(output);
    },
    async tree(step) {
      known ??= treesIn((await readIfPossible(disk, trees, MOST_OLDER_BYTES))?.toString('utf8'));
      return known.get(nameOf(step));
    },
  };
}

export async function keepRecord(
  disk: Disk,
  { folders }: RecordPaths,
  { agent, step }: StepKey,
  name: RecordName,
  content: Uint8Array,
): Promise<void> {
  const folder = folders.step(agent, step);
  await makeFolder(disk, folder);
  await replaceWith(disk, join(folder, name), (file) => writeAll(file, content, 0));
}

/** Not in the step's folder, because Raymond removes the folders of old steps. */
export async function keepTree(
  disk: Disk,
  { trees }: RecordPaths,
  step: StepKey,
  tree: string,
): Promise<void> {
  const isNew = (await disk.kind(trees)) === undefined;
  // The leading newline separates the record from a line that a crash cut off.
  const line = Buffer.from(`\n${JSON.stringify({ ...step, tree } satisfies KeptTree)}\n`);
  await thenClose(await disk.open(trees, isNew ? 'create' : 'change'), async (file) => {
    await writeAll(file, line, await file.size());
    await file.sync();
  });
  if (isNew) await disk.syncFolder(dirname(trees));
}

/** Reads a file, or its compressed form. */
async function readKept(disk: Disk, file: string, maxBytes: number): Promise<Buffer | undefined> {
  const plain = await readIfPossible(disk, file, maxBytes);
  if (plain) return plain;
  const zipped = await readIfPossible(disk, `${file}.gz`, MOST_ZIPPED_BYTES);
  try {
    return zipped && gunzipSync(zipped, { maxOutputLength: Math.max(maxBytes, 1) });
  } catch {
    return undefined;
  }
}

const MOST_ZIPPED_BYTES = 256 * 1024 * 1024;

/** Nothing depends on the records, so a file that cannot be read counts as missing. */
function readIfPossible(disk: Disk, file: string, maxBytes: number): Promise<Buffer | undefined> {
  return readBytes(disk, file, maxBytes).catch(() => undefined);
}

const keptTreeSchema = z.object({ agent: z.string(), step: z.number(), tree: z.string() });
type KeptTree = z.infer<typeof keptTreeSchema>;

const nameOf = ({ agent, step }: StepKey) => `${step} ${agent}`;

/** The last tree of a step counts. */
function treesIn(text = ''): ReadonlyMap<string, string> {
  const kept = text.split('\n').flatMap((line) => {
    const { data } = z.safeParse(keptTreeSchema, parsed(line));
    return data ? [[nameOf(data), data.tree] as const] : [];
  });
  return new Map(kept);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
