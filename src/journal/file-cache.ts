import { UserError } from '../model/user-error.ts';
import type { Cache } from '../ports.ts';
import { type Disk, readText, replaceCache } from './disk.ts';
import { isSystemError } from './disk-errors.ts';
import type { UserKey } from './user-key.ts';

/** It has the user's seal, because agents and other users can write to the project. */
export function fileCache(disk: Disk, file: string, name: string, key: UserKey): Cache {
  const purpose = `cache ${name}`;
  return {
    async read() {
      const found = await readText(disk, file, MAX_BYTES).catch(() => undefined);
      const [seal = '', text = ''] = found?.split('\n') ?? [];
      const isOurs = await key.isSealed(purpose, text, seal).catch(() => false);
      return isOurs ? text : undefined;
    },
    async write(text) {
      if (text.includes('\n')) throw new Error('Bug: the text of a cache has several lines');
      try {
        const seal = await key.sealIfKnown(purpose, text);
        if (seal !== undefined) await replaceCache(disk, file, `${seal}\n${text}\n`);
      } catch (error) {
        if (!isSystemError(error) && !(error instanceof UserError)) throw error;
      }
    },
  };
}

const MAX_BYTES = 256 * 1024 * 1024;
