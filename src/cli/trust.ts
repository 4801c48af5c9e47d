/**
 * The config files of projects that the user has approved. An approval is for one file with one
 * content. Each approval is a separate file of the user, so two processes cannot overwrite each other's.
 */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { hasCode, readText, realDisk, replaceFile } from '../journal/disk.ts';
import { realPath } from '../options/leads-out.ts';
import { checkOwn, makeOwnFolder, userConfigFolder } from './user-folders.ts';

export async function isTrusted(file: string, text: string): Promise<boolean> {
  const record = recordOf(file);
  await checkOwn(dirname(record));
  await checkOwn(record);
  return (await readText(realDisk, record, MAX_RECORD_BYTES)) === approval(file, text);
}

export async function trust(file: string, text: string): Promise<void> {
  const record = recordOf(file);
  await makeOwnFolder(dirname(record));
  await replaceFile(realDisk, record, approval(file, text));
}

/** Gives whether the file was approved. */
export async function revoke(file: string): Promise<boolean> {
  try {
    await realDisk.unlink(recordOf(file));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function recordOf(file: string): string {
  return join(userConfigFolder(), 'trusted', `${sha256(realPath(file) ?? file)}.json`);
}

function approval(file: string, text: string): string {
  return `${JSON.stringify({ file: realPath(file) ?? file, sha256: sha256(text) })}\n`;
}

/** A path can be long. */
const MAX_RECORD_BYTES = 64 * 1024;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
