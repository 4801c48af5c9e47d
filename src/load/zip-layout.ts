import { UserError } from '../model/user-error.ts';
import type { PlacedEntry, ZipEntry } from './zip-parts.ts';

interface FlatEntry {
  /** The name without the top folder. */
  readonly file: string;
  readonly entry: PlacedEntry;
}

const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

/**
 * The archive's files as files of one folder. Throws a UserError for entries that cannot or must
 * not be such files.
 */
export function flatten(all: readonly PlacedEntry[], archive: string): readonly FlatEntry[] {
  for (const entry of all) refuseUnsafe(entry, archive);
  refuseRepeated(all, archive);
  const entries = all.filter((entry) => !isClutter(entry.name));
  const files = entries.filter((entry) => !entry.name.endsWith('/'));
  if (files.length === 0) {
    throw refusal('zip-empty', `${archive} is empty.`, 'Pack a folder that contains START.md.');
  }
  refuseSize(files, archive);
  return withoutTopFolder(files, archive);
}

/** Files that macOS adds by itself. */
function isClutter(name: string): boolean {
  return name.startsWith('__MACOSX/') || /(?:^|\/)\.DS_Store$/.test(name);
}

const ENCRYPTED = 0x2041;
const FILE_TYPE = 0o170000;
const PLAIN_TYPES: readonly number[] = [0, 0o100000, 0o040000];

function refuseUnsafe({ name, flags, attr }: ZipEntry, archive: string): void {
  if (/\\|\0|\uFFFD|^[A-Za-z]:|^\/|(?:^|\/)\.\.?(?:\/|$)|\/\/|^$/.test(name)) {
    const shown = JSON.stringify(name);
    const message = `${archive} contains an entry whose name is not a plain file name: ${shown}.`;
    throw refusal('zip-bad-name', message, 'Pack it again, with relative names in UTF-8.');
  }
  if (!PLAIN_TYPES.includes((attr >>> 16) & FILE_TYPE)) {
    const message = `${name} in ${archive} is a link or a device.`;
    throw refusal('zip-link', message, 'Pack the file itself.');
  }
  if ((flags & ENCRYPTED) !== 0) {
    const message = `${name} in ${archive} is encrypted.`;
    throw refusal('zip-encrypted', message, 'Pack it again without a password.');
  }
}

function refuseSize(files: readonly ZipEntry[], archive: string): void {
  // Packed data that is larger than its unpacked data also needs memory.
  const total = files.reduce((sum, file) => sum + Math.max(file.size, file.compressedSize), 0);
  if (total <= MAX_UNPACKED_BYTES) return;
  const limit = `${MAX_UNPACKED_BYTES / 1024 / 1024} MiB`;
  const message = `${archive} unpacks to more than ${limit}.`;
  throw refusal('zip-too-large', message, 'Pack only the files of the workflow.');
}

function withoutTopFolder(files: readonly PlacedEntry[], archive: string): readonly FlatEntry[] {
  const tops = new Set(files.map(({ name }) => (name.includes('/') ? name.split('/')[0] : '')));
  if (tops.size > 1) {
    const message = tops.has('')
      ? `${archive} contains files beside a folder with files.`
      : `${archive} contains several folders.`;
    const remedy = 'Pack only the files, or one folder that contains them all.';
    throw refusal('zip-mixed', message, remedy);
  }
  const [top = ''] = tops;
  const start = top === '' ? 0 : top.length + 1;
  return files.map((entry) => {
    const file = entry.name.slice(start);
    if (!file.includes('/')) return { file, entry };
    const message = `${entry.name} in ${archive} is more than one folder deep.`;
    throw refusal('zip-nested', message, 'A workflow is one folder. Move the file up.');
  });
}

/** Many file systems do not distinguish upper and lower case, or two encodings of the letter ä. */
function refuseRepeated(entries: readonly ZipEntry[], archive: string): void {
  const seen = new Map<string, string>();
  for (const { name } of entries) {
    const key = name.replace(/\/$/, '').normalize('NFC').toLowerCase();
    const other = seen.get(key);
    if (other !== undefined) {
      const names = other === name ? `${name} twice` : `both ${other} and ${name}`;
      const message = `${archive} contains ${names}.`;
      throw refusal('zip-duplicate', message, 'Pack it again with one of them.');
    }
    seen.set(key, name);
  }
}

function refusal(code: string, message: string, remedy: string): UserError {
  return new UserError(code, message, remedy);
}
