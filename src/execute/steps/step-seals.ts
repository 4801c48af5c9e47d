/**
 * Seals for the small files in which Raymond keeps what it needs to adopt a step. A seal proves that a
 * Raymond process of this user wrote the file, with this content, for this place in this run. Agents
 * and scripts do not have the key.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import * as z from 'zod/mini';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { parsed } from '../../model/attempt.ts';

export interface StepSeals {
  /** The value as JSON, with a seal that is valid in this file only. */
  sealed(path: string, value: object): string;
  /** The value without its seal; undefined if it was not sealed for this file. */
  opened(path: string, sealed: unknown): unknown;
}

/**
 * `folder` is that of the run. With a key for this run, other processes can verify the seals. Without
 * one, only this process can.
 */
export function stepSeals(folder: string, key: Buffer = randomBytes(32)): StepSeals {
  const sealOf = (path: string, text: string) => {
    const name = relative(folder, path).replaceAll(sep, '/');
    return createHmac('sha256', key).update(`${name}\0${text}`).digest('hex');
  };
  return {
    sealed(path, value) {
      const text = JSON.stringify(value);
      const begin = text === '{}' ? '{' : `${text.slice(0, -1)},`;
      return `${begin}"seal":"${sealOf(path, text)}"}`;
    },
    opened(path, sealed) {
      if (typeof sealed !== 'object' || sealed === null || !('seal' in sealed)) return undefined;
      const { seal, ...value } = sealed;
      const right = Buffer.from(sealOf(path, JSON.stringify(value)));
      const given = Buffer.from(String(seal));
      return given.length === right.length && timingSafeEqual(given, right) ? value : undefined;
    },
  };
}

/** A key for one run. A later run of the same id began at another time. */
export function runSealKey(key: Buffer, run: string, startedAt: number): Buffer {
  return createHmac('sha256', key).update(`${run}\0${startedAt}`).digest();
}

/** Writes a file as a whole or not at all. A link that was put in its way is not followed. */
export function writeSealed(seals: StepSeals, file: string, value: object): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.new`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${seals.sealed(file, value)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(draft, file);
}

/** `foreign`: there is a file, but Raymond did not write it here for this run. */
export function readSealed<S extends z.ZodMiniType>(
  seals: StepSeals,
  file: string,
  schema: S,
): z.infer<S> | 'foreign' | undefined {
  let text: string;
  try {
    text = readRegularFileSync(file, MOST_BYTES).toString('utf8');
  } catch {
    return existsSync(file) ? 'foreign' : undefined;
  }
  const value = seals.opened(file, parsed(text));
  return value === undefined ? 'foreign' : (z.safeParse(schema, value).data ?? 'foreign');
}

const MOST_BYTES = 1024 * 1024;
