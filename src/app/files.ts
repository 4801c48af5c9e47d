import { openRun } from '../host/open-run.ts';
import type { KeptFile } from '../model/kept-file.ts';
import { UserError } from '../model/user-error.ts';
import type { Surroundings } from '../world/surroundings.ts';

/** A file that the run keeps. */
export interface RunFile extends KeptFile {
  readonly agent: string;
  /** Whether a question showed it, or an answer brought it. */
  readonly of: 'question' | 'answer';
  readonly at: number;
}

/** The files of all questions and answers of a run, the oldest first. */
export async function files({ store }: Surroundings, id: string): Promise<readonly RunFile[]> {
  await openRun(store, id);
  const all: RunFile[] = [];
  for await (const event of store.events(id)) {
    if (event.type !== 'agent-asked' && event.type !== 'agent-answered') continue;
    const { agent, at } = event;
    const of = event.type === 'agent-asked' ? 'question' : 'answer';
    for (const file of event.files ?? []) all.push({ ...file, agent, of, at });
  }
  return all;
}

/** The newest file with a name, or the one whose hash begins like this. Throws a UserError if there is none. */
export async function file(around: Surroundings, id: string, named: string): Promise<RunFile> {
  const all = await files(around, id);
  const found =
    all.findLast(({ name }) => name === named) ??
    (named.length >= SHORT_HASH ? all.find(({ sha256 }) => sha256.startsWith(named)) : undefined);
  if (found) return found;
  throw new UserError(
    'no-file',
    `No question and no answer of ${id} has a file ${JSON.stringify(named)}.`,
    `To see the files: raymond show ${id} --files`,
  );
}

/** As many digits of a hash name a file. */
export const SHORT_HASH = 8;

export async function contentOf(
  { store }: Surroundings,
  id: string,
  { name, sha256 }: Pick<KeptFile, 'name' | 'sha256'>,
): Promise<Uint8Array> {
  const content = await store.files(id).read(sha256);
  if (content) return content;
  throw new UserError(
    'lost-file',
    `The content of ${name} in ${id} is gone, or is not what it was.`,
    `To see the other files: raymond show ${id} --files`,
  );
}
