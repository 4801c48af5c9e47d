/**
 * The files that a question shows. Raymond reads them outside of the sandbox of the step, so it checks here
 * that the agent may read and choose them.
 */
import { lstat, realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import {
  isWithin,
  openRegularFile,
  readOpenFile,
  realOrSame,
  UnusableFile,
} from '../files/regular-file.ts';
import type { FilesFact, Located } from '../model/input.ts';
import { type KeptFile, sizeText } from '../model/kept-file.ts';
import { messageOf } from '../model/message-of.ts';
import type { FilesOf, KeptFiles } from '../ports.ts';

interface Choosing {
  /** The directory of the agent. */
  readonly from: string;
  readonly whose: FilesOf;
  /** Of the project. */
  readonly root: string;
  /** Whether a real path is in a task folder of the run. */
  readonly inTask: (path: string) => boolean;
}

/** Stores the files, or says why one of them cannot be shown. Then it stores none. */
export async function keepShown(
  paths: readonly string[],
  { kept, ...choosing }: Choosing & { readonly kept: Pick<KeptFiles, 'keep'> },
): Promise<Located<FilesFact>> {
  const read = await readChosen(paths, choosing);
  if (!read.found) return read;
  const files: KeptFile[] = [];
  try {
    for (const { name, content } of read.files)
      files.push({ name, bytes: content.length, sha256: await kept.keep(content) });
  } catch (error) {
    // The step has been paid for, so it is not repeated because of this.
    return { found: false, problem: `The files cannot be stored: ${messageOf(error)}.` };
  }
  return { found: true, files };
}

interface ReadFile {
  readonly name: string;
  readonly content: Uint8Array;
}

/** The content of the files, or why one of them must not be used. */
export async function readChosen(
  paths: readonly string[],
  choosing: Choosing,
): Promise<Located<{ readonly files: readonly ReadFile[] }>> {
  const files: ReadFile[] = [];
  const { most } = choosing.whose;
  let left = most;
  for (const name of paths) {
    try {
      const content = await contentOf(resolve(choosing.from, name), choosing, left);
      left -= content.length;
      files.push({ name, content });
    } catch (error) {
      return { found: false, problem: problemOf(name, error, most) };
    }
  }
  return { found: true, files };
}

/** Fails if the open file is not the one at the real path, which decides whether it may be shown. */
async function contentOf(path: string, choosing: Choosing, most: number): Promise<Uint8Array> {
  const file = await openRegularFile(path);
  try {
    const real = await realpath(path);
    const [opened, found] = await Promise.all([
      file.stat({ bigint: true }),
      lstat(real, { bigint: true }),
    ]);
    if (opened.dev !== found.dev || opened.ino !== found.ino)
      throw new NotShown('it was replaced while Raymond looked at it');
    const problem = choiceProblem(real, choosing);
    if (problem !== undefined) throw new NotShown(problem);
    const content = await readOpenFile(file, most);
    const { clean } = choosing.whose;
    const cleaned = clean ? clean(content) : content;
    if (!cleaned)
      throw new NotShown('it may contain a secret of the step, whose value is not known');
    return cleaned;
  } finally {
    await file.close();
  }
}

class NotShown extends Error {}

/** A script without rights is the author's own, and may show any file. */
function choiceProblem(
  path: string,
  { from, whose: { by, rights }, root, inTask }: Choosing,
): string | undefined {
  if (by === 'author' && !rights) return undefined;
  const hidden = (rights?.hide ?? []).map((one) => realOrSame(absolute(one, from)));
  if (hidden.some((one) => isWithin(one, path))) return 'the rights of the state hide it';
  if (inTask(path)) return undefined;
  const base = [realOrSame(from), root].find((one) => isWithin(one, path));
  if (base === undefined) return 'it is outside the project';
  const parts = relative(base, path).split(sep);
  const [first, second] = parts;
  const own = first === '.raymond' && second === 'worktrees' ? parts.slice(4) : parts;
  const dotted = own.find((part) => part.startsWith('.'));
  return dotted === undefined && own.length > 0
    ? undefined
    : 'a file or folder whose name begins with a dot may contain secrets';
}

const absolute = (path: string, from: string) =>
  path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(from, path);

function problemOf(name: string, error: unknown, most: number): string {
  const cannot = `Raymond cannot take the file ${isAbsolute(name) ? name : JSON.stringify(name)}`;
  if (error instanceof UnusableFile && error.code === 'TOO-LARGE')
    return `${cannot}: the files have at most ${sizeText(most)} together (--max-files-mib). Name smaller ones.`;
  if (error instanceof UnusableFile || error instanceof NotShown)
    return `${cannot}: ${error.message}. Copy what the person has to see into a file in the agent's directory.`;
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  return `${cannot}: ${isMissing ? 'there is no such file' : messageOf(error)}. Paths are relative to the agent's directory.`;
}
