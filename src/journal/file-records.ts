/** The records of the steps of a run: the files in their folders. */
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { MOST_OLDER_BYTES, olderFileOf, olderOutputs } from '../files/older-steps.ts';
import { attempt } from '../model/attempt.ts';
import type { RunFolders, StepRecords } from '../ports.ts';
import { type Disk, readBytes } from './disk.ts';

export function fileRecords(
  disk: Disk,
  { folders }: { readonly folders: Pick<RunFolders, 'step'> },
): StepRecords {
  const older = new Map<string, ReadonlyMap<number, string>>();
  const olderIn = async (agentFolder: string) => {
    const known = older.get(agentFolder);
    if (known) return known;
    const text = await readIfPossible(disk, olderFileOf(agentFolder), MOST_OLDER_BYTES);
    const outputs = olderOutputs(text?.toString('utf8') ?? '');
    older.set(agentFolder, outputs);
    return outputs;
  };
  return {
    async read({ agent, step }, name, maxBytes) {
      const folder = folders.step(agent, step);
      const kept = await readKept(disk, join(folder, name), maxBytes);
      if (kept || name !== 'stdout') return kept;
      const output = (await olderIn(dirname(folder))).get(step);
      return output === undefined ? undefined : Buffer.from(output);
    },
  };
}

/** Reads a file, or its compressed form. */
async function readKept(disk: Disk, file: string, maxBytes: number): Promise<Buffer | undefined> {
  const plain = await readIfPossible(disk, file, maxBytes);
  if (plain) return plain;
  const zipped = await readIfPossible(disk, `${file}.gz`, MOST_ZIPPED_BYTES);
  const maxOutputLength = Math.max(maxBytes, 1);
  return zipped && attempt(() => gunzipSync(zipped, { maxOutputLength }));
}

const MOST_ZIPPED_BYTES = 256 * 1024 * 1024;

/** Nothing depends on the records, so a file that cannot be read counts as missing. */
function readIfPossible(disk: Disk, file: string, maxBytes: number): Promise<Buffer | undefined> {
  return readBytes(disk, file, maxBytes).catch(() => undefined);
}
