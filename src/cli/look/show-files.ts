import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { contentOf, file, files, type RunFile, SHORT_HASH } from '../../app/files.ts';
import { safeNames, sizeText } from '../../model/kept-file.ts';
import { messageOf } from '../../model/message-of.ts';
import { UserError } from '../../model/user-error.ts';
import { oneLine, time } from '../../observe/words.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import { textIn } from '../../parse/file-kind.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { table } from './table.ts';

interface Wanted {
  /** One file; all of them if it is absent. */
  readonly file?: string | undefined;
  readonly save?: string | undefined;
  readonly json?: boolean | undefined;
}

/** Lists the files of questions and answers, prints one of them, or copies them into a folder. */
export async function showFiles(
  around: Surroundings,
  id: string,
  { file: named, save, json }: Wanted,
): Promise<number> {
  const found = named === undefined ? await files(around, id) : [await file(around, id, named)];
  if (save !== undefined) await copy(around, id, found, resolve(around.cwd, save));
  if (json)
    for (const { at, ...one } of found) stdout.json({ ...one, at: new Date(at).toISOString() });
  else if (save !== undefined) return 0;
  else if (named === undefined) list(found, around.clock.now());
  else for (const one of found) await print(one, await contentOf(around, id, one));
  return 0;
}

function list(found: readonly RunFile[], now: number): void {
  if (found.length === 0) stderr.say('No question and no answer of this run has files.');
  if (found.length === 0) return;
  const rows = found.map(({ name, bytes, sha256, agent, of, at }) => [
    oneLine(name, 80),
    sizeText(bytes),
    `${of === 'question' ? 'asked by' : 'sent to'} ${agent}`,
    time(at, now),
    sha256.slice(0, SHORT_HASH),
  ]);
  for (const line of table(['FILE', 'SIZE', 'OF', 'AT', 'HASH'], rows)) stdout.say(line);
}

/** A terminal gets only text, without anything in it that acts. A pipe gets the file as it is. */
async function print({ name }: RunFile, content: Uint8Array): Promise<void> {
  if (!stdout.isTerminal()) return stdout.bytes(content);
  const text = textIn(content);
  if (text === undefined)
    throw wrongUsage(
      `${oneLine(name, 80)} is not a text.`,
      'Copy it with --save FOLDER, or send the output to a file.',
    );
  stdout.quote(text);
}

async function copy(
  around: Surroundings,
  id: string,
  found: readonly RunFile[],
  folder: string,
): Promise<void> {
  const names = safeNames(found.map(({ name }) => name));
  const contents = await Promise.all(found.map((one) => contentOf(around, id, one)));
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const [index, content] of contents.entries()) {
      const path = join(folder, names[index] ?? 'file');
      writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
      stderr.say(`Saved ${path}`);
    }
  } catch (error) {
    throw new UserError(
      'not-saved',
      `The files cannot be saved in ${folder}: ${messageOf(error)}.`,
      'Name an empty folder, or one that does not exist yet.',
    );
  }
}
