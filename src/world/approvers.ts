/**
 * The lists of people whose signatures answer questions: `approvers/NAME` in the user's configuration folder, in
 * the format of ssh's `allowed_signers`. Agents cannot change that folder, and no project can bring a list.
 */
import { dirname, join } from 'node:path';
import { checkSignature } from '../execute/signatures/ssh-signatures.ts';
import { readText, realDisk } from '../journal/disk.ts';
import type { Signature } from '../model/approval.ts';
import { UserError } from '../model/user-error.ts';
import { checkOwn, userConfigFolder } from './config/user-folders.ts';

export interface Approvers {
  readonly file: string;
  readonly text: string;
  readonly names: readonly string[];
}

/** Throws a UserError if there is no such list, or if others could have changed it. */
export async function approversOf(list: string): Promise<Approvers> {
  const file = join(userConfigFolder(), 'approvers', list);
  await checkOwn(userConfigFolder());
  await checkOwn(dirname(file));
  await checkOwn(file);
  const text = await readText(realDisk, file, MOST_BYTES);
  if (text === undefined)
    throw new UserError(
      'no-approvers',
      `There is no list of approvers ${file}.`,
      'Write one line for each of them, as in allowed_signers of ssh: name ssh-ed25519 AAAA...',
      { file },
    );
  return { file, text, names: namesIn(text) };
}

const MOST_BYTES = 1024 * 1024;

function namesIn(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim());
  const named = lines.filter((line) => line !== '' && !line.startsWith('#'));
  return [...new Set(named.flatMap((line) => (line.split(/\s/)[0] ?? '').split(',')))];
}

/** Throws a UserError if the signature does not count. */
export async function checkedSignature(
  { file, text: approvers }: Approvers,
  text: string,
  signature: string,
): Promise<Signature> {
  const found = await checkSignature({ text, signature, approvers });
  if (found.ok) return { by: found.by, key: found.key, signature };
  throw new UserError(
    'bad-signature',
    `The signature does not count: ${found.why}.`,
    `The keys that count are in ${file}. What they sign: raymond answer RUN --to-sign "..."`,
    { file },
  );
}
