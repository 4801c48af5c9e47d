/**
 * Files that a question shows, or that come with an answer. The run keeps their content; events and
 * messages refer to it by its hash.
 */
import type { KeptFile } from './agent-state.ts';

export type { KeptFile };

/** Of one question, or of one answer. */
export const MOST_FILES = 20;
/** The folder in the task folder of an agent that has the files of the newest answer to it. */
export const ANSWER_FILES = 'answer_files';
/** All files of one question, or of one answer, together. */
export const MOST_FILES_MIB = 20;
/** The highest limit that a user can choose: the files are in memory while they are stored. */
export const LARGEST_FILES_MIB = 256;

export function mostBytes({ maxFilesMib = MOST_FILES_MIB }: { maxFilesMib?: number | undefined }) {
  return Math.min(maxFilesMib, LARGEST_FILES_MIB) * 1024 * 1024;
}

/** What is wrong with the files of a question or an answer; undefined if nothing is. */
export function filesProblem(files: readonly KeptFile[], most: number): string | undefined {
  if (files.length > MOST_FILES)
    return `There are ${files.length} files, and at most ${MOST_FILES} are allowed.`;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes <= most) return undefined;
  return `The files have ${sizeText(bytes)} together, and at most ${sizeText(most)} are allowed (--max-files-mib).`;
}

export function sizeText(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const [amount, unit] = bytes < 1024 * 1024 ? [bytes / 1024, 'KiB'] : [bytes / 1048576, 'MiB'];
  return `${amount < 10 ? amount.toFixed(1).replace(/\.0$/, '') : Math.round(amount)} ${unit}`;
}

/**
 * A name for a file that a person sends. Every file system accepts it, it is one part of a path, and no
 * terminal, shell or program acts on its characters.
 */
export function safeName(name: string): string {
  const last = name.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const plain = last
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}<>:"|?*`$]/gu, '')
    .replaceAll(/\s+/g, ' ')
    .replace(/^[\s.~-]+/, '');
  const cut = shortened(plain.replace(/[\s.]+$/, '')).replace(/[\s.]+$/, '');
  if (cut === '') return 'file';
  return /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(cut) ? `_${cut}` : cut;
}

/** Different names for files in one folder, also on a disk that ignores the case of letters. */
export function safeNames(names: readonly string[]): readonly string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const safe = safeName(name);
    const [stem, ending] = parts(safe);
    let one = safe;
    for (let n = 2; taken.has(one.toLowerCase()); n++) one = `${stem}-${n}${ending}`;
    taken.add(one.toLowerCase());
    return one;
  });
}

const parts = (name: string): readonly [string, string] => {
  const at = name.lastIndexOf('.');
  return at > 0 && name.length - at <= MOST_ENDING
    ? [name.slice(0, at), name.slice(at)]
    : [name, ''];
};

const MOST_ENDING = 12;
/** A letter has up to four bytes, and a name up to 255. */
const MOST_LETTERS = 60;

function shortened(name: string): string {
  const letters = [...name];
  if (letters.length <= MOST_LETTERS) return name;
  const [stem, ending] = parts(name);
  return `${[...stem]
    .slice(0, MOST_LETTERS - [...ending].length)
    .join('')
    .trimEnd()}${ending}`;
}
