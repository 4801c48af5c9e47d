/** The files of questions and answers of a run: each is named by the hash of its content. */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { LARGEST_FILES_MIB } from '../model/kept-file.ts';
import type { KeptFiles } from '../ports.ts';
import { type Disk, makeFolder, readBytes, replaceWith, writeAll } from './disk.ts';
import type { RunPaths } from './project.ts';

export function keptFiles(disk: Disk, { kept }: Pick<RunPaths, 'kept'>): KeptFiles {
  const pathOf = (sha256: string) => join(kept, sha256);
  /** Something else under its name counts as missing. */
  const read: KeptFiles['read'] = async (sha256) => {
    if (!/^[0-9a-f]{64}$/.test(sha256)) return undefined;
    const found = await readBytes(disk, pathOf(sha256), MOST_BYTES).catch(() => undefined);
    return found && hashOf(found) === sha256 ? found : undefined;
  };
  return {
    async keep(content) {
      const sha256 = hashOf(content);
      if (await read(sha256)) return sha256;
      // The run has a folder: it asks, or is asked for.
      await makeFolder(disk, dirname(kept));
      await makeFolder(disk, kept);
      await replaceWith(disk, pathOf(sha256), (file) => writeAll(file, content, 0));
      return sha256;
    },
    read,
  };
}

const MOST_BYTES = LARGEST_FILES_MIB * 1024 * 1024;

const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');
