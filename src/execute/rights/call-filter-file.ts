/** The filter of system calls as a file, because bubblewrap reads it from a descriptor. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfSmallSync } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';
import { callFilter, type Sockets } from './system-calls.ts';

/** Where the sandbox reads its filter. */
export const FILTER_DESCRIPTOR = 3;

/** In a folder that no step can change. Throws if there is no filter for this machine. */
export function callFilterFile(folder: string, sockets: Sockets): string {
  const key = `${folder}\0${sockets}`;
  const known = FILES.get(key);
  if (known !== undefined) return known;
  const bytes = callFilter(process.arch, sockets);
  if (bytes === undefined)
    throw new Error(`There is no filter of system calls for ${process.arch}.`);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  const file = join(folder, `calls-${hash}`);
  if (!(attempt(() => readIfSmallSync(file, bytes.length).bytes)?.equals(bytes) ?? false)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const whole = `${file}-${randomUUID()}`;
    writeFileSync(whole, bytes, { mode: 0o600, flag: 'wx' });
    renameSync(whole, file);
  }
  FILES.set(key, file);
  return file;
}

/** Looked at once for each process. */
const FILES = new Map<string, string>();
