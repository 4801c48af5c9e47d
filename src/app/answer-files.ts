/** The files that people send with an answer. */
import { basename, resolve } from 'node:path';
import { projectArea } from '../files/project-area.ts';
import { openRegularFile, readOpenFile, UnusableFile } from '../files/regular-file.ts';
import { openRun } from '../host/open-run.ts';
import {
  filesProblem,
  type KeptFile,
  MOST_FILES,
  mostBytes,
  safeNames,
  sizeText,
} from '../model/kept-file.ts';
import { messageOf } from '../model/message-of.ts';
import { waitsForPerson } from '../model/tally.ts';
import { UserError } from '../model/user-error.ts';
import { homeFolder } from '../world/config/user-folders.ts';
import { readChosen } from '../world/shown-files.ts';
import type { Surroundings } from '../world/surroundings.ts';
import type { AskedItem } from './answer.ts';

/** A file, or one that `keepFile` has stored for the run. */
export type AnswerFile = { readonly name: string } & (
  | { readonly content: Uint8Array }
  | { readonly sha256: string }
);

/** The files of the person at these paths. Throws a UserError for anything but regular files. */
export async function filesAt(
  paths: readonly string[],
  cwd: string,
  { mostFileBytes: most }: Pick<AskedItem, 'mostFileBytes'>,
): Promise<readonly AnswerFile[]> {
  if (paths.length > MOST_FILES) throw wrongFiles(tooMany(paths.length));
  const files: AnswerFile[] = [];
  let left = most;
  for (const path of paths) {
    try {
      const file = await openRegularFile(resolve(cwd, path));
      const content = await readOpenFile(file, left).finally(() => file.close());
      left -= content.length;
      files.push({ name: basename(path), content });
    } catch (error) {
      const isLarge = error instanceof UnusableFile && error.code === 'TOO-LARGE';
      throw isLarge
        ? wrongFiles(`The files have more than ${sizeText(most)} together (--max-files-mib).`)
        : wrongFiles(
            `${path} cannot be sent: ${whyUnreadable(error)}.`,
            'Name a file that exists.',
          );
    }
  }
  return files;
}

/** The same for an agent that orchestrates runs: it may send what it may choose, files of the project. */
export async function projectFiles(
  { cwd }: Surroundings,
  paths: readonly string[],
  { mostFileBytes: most }: Pick<AskedItem, 'mostFileBytes'>,
): Promise<readonly AnswerFile[]> {
  if (paths.length > MOST_FILES) throw wrongFiles(tooMany(paths.length));
  const { root } = await projectArea(cwd, homeFolder());
  const whose = { by: 'agent', rights: undefined, most } as const;
  const read = await readChosen(paths, { from: cwd, whose, root, inTask: () => false });
  if (!read.found) throw wrongFiles(read.problem);
  return read.files.map(({ name, content }) => ({ name: basename(name), content }));
}

/** Stores the files of an answer before the answer refers to them. Throws a UserError if they cannot come with it. */
export async function keptForAnswer(
  { store }: Surroundings,
  { id, item, mostFileBytes }: AskedItem,
  files: readonly AnswerFile[],
): Promise<readonly KeptFile[]> {
  if (files.length === 0) return [];
  if (item.kind === 'request')
    throw wrongFiles('A permission request takes no files.', 'Answer it without a file.');
  const kept = store.files(id);
  const names = safeNames(files.map(({ name }) => name));
  const known = await Promise.all(
    files.map(async (file, index) => {
      const content = 'content' in file ? file.content : await kept.read(file.sha256);
      if (content) return { name: names[index] ?? file.name, content };
      throw wrongFiles(`The file ${file.name} is not stored in ${id}.`, 'Send it first.');
    }),
  );
  const sized = known.map(({ name, content }) => ({ name, bytes: content.length, sha256: '' }));
  const kind = kindProblem(names, item.accept);
  if (kind !== undefined) throw wrongFiles(kind, 'Send one of these, or answer without a file.');
  const problem = filesProblem(sized, mostFileBytes);
  if (problem !== undefined) throw wrongFiles(problem);
  const all: KeptFile[] = [];
  for (const { name, content } of known)
    all.push({ name, bytes: content.length, sha256: await kept.keep(content) });
  return all;
}

/** Stores a file for an answer that will come. Throws a UserError if nothing waits, or if it is too large. */
export async function keepFile(
  { store }: Surroundings,
  id: string,
  content: AsyncIterable<Uint8Array>,
): Promise<Omit<KeptFile, 'name'>> {
  const { run } = await openRun(store, id);
  if (waitsForPerson(run.tally) === 0)
    throw new UserError(
      'no-question',
      `No agent of ${id} has a question.`,
      `To see its agents: raymond show ${id}`,
    );
  const most = mostBytes(run.settings);
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of content) {
    bytes += part.length;
    if (bytes > most)
      throw new UserError(
        'too-large',
        `The file has more than ${sizeText(most)} (--max-files-mib).`,
        'Send a smaller one, or put it into the project and name its path.',
      );
    parts.push(part);
  }
  return { bytes, sha256: await store.files(id).keep(Buffer.concat(parts)) };
}

/** The ending says what a file is for the agent and its programs. */
function kindProblem(names: readonly string[], accept?: readonly string[]): string | undefined {
  const other = names.find(
    (name) => !accept?.includes(/\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''),
  );
  if (!accept || other === undefined) return undefined;
  return `The question takes only files that end in ${accept.join(', ')}, and ${other} does not.`;
}

function whyUnreadable(error: unknown): string {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
  return isMissing ? 'there is no such file' : messageOf(error);
}

const tooMany = (count: number) =>
  `There are ${count} files, and at most ${MOST_FILES} can come with an answer.`;

function wrongFiles(
  fact: string,
  remedy = 'Send fewer or smaller files, or put them into the project and name their paths.',
): UserError {
  return new UserError('wrong-files', fact, remedy);
}
