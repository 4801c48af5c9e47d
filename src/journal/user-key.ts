/**
 * INV-18: Only a command of the user can seal a message or a run. The key is in no environment.
 *
 * A secret of the user, outside of every project. A seal proves that a command of this user wrote
 * the text, and not someone who can only write into the project. Agents and scripts do not receive
 * the key.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { linkProblem } from '../files/ownership.ts';
import { readRegularFile } from '../files/regular-file.ts';
import { UserError } from '../model/user-error.ts';
import { type Disk, hasCode, makeFolder, writeAll, writeBeside } from './disk.ts';
import { cureOf, reasonOf } from './disk-errors.ts';

export interface UserKey {
  /** A seal is valid only for its `purpose`. Creates the key if none exists. */
  seal(purpose: string, text: string): Promise<string>;
  /** Undefined without a key. */
  sealIfKnown(purpose: string, text: string): Promise<string | undefined>;
  /** False without a key. */
  isSealed(purpose: string, text: string, seal: string): Promise<boolean>;
  /**
   * A key for one purpose, derived from the user's key, for seals that are too frequent to wait for each.
   * Creates the user's key if none exists.
   */
  derived(purpose: string): Promise<Buffer>;
  /** Undefined without a key. */
  derivedIfKnown(purpose: string): Promise<Buffer | undefined>;
  /** The folder of the ends of the journals that were written with this key. */
  readonly heads: string;
}

/** All functions throw a UserError if the key cannot be used. */
export function userKey(disk: Disk, file: string): UserKey {
  let known: Promise<Buffer | undefined> | undefined;
  const read = async () => {
    known ??= readKey(file);
    const key = await known.catch((error) => {
      known = undefined;
      throw error;
    });
    // Another command may create it while this process works.
    if (key === undefined) known = undefined;
    return key;
  };
  return {
    async seal(purpose, text) {
      const key = (await read()) ?? (await makeKey(disk, file));
      return sealOf(key, purpose, text).toString('hex');
    },
    async sealIfKnown(purpose, text) {
      const key = await read();
      return key && sealOf(key, purpose, text).toString('hex');
    },
    async isSealed(purpose, text, seal) {
      const key = await read();
      if (key === undefined) return false;
      const [right, given] = [sealOf(key, purpose, text), Buffer.from(seal, 'hex')];
      return given.length === right.length && timingSafeEqual(given, right);
    },
    async derived(purpose) {
      return derivedFrom((await read()) ?? (await makeKey(disk, file)), purpose);
    },
    async derivedIfKnown(purpose) {
      const key = await read();
      return key && derivedFrom(key, purpose);
    },
    heads: join(dirname(file), 'heads'),
  };
}

const KEY_BYTES = 32;

function sealOf(key: Buffer, purpose: string, text: string): Buffer {
  return createHmac('sha256', key).update(`${purpose}\0${text}`).digest();
}

/** No seal of `sealOf` has such a text, because no purpose contains a NUL. */
function derivedFrom(key: Buffer, purpose: string): Buffer {
  return createHmac('sha256', key).update(`\0derived\0${purpose}`).digest();
}

async function makeKey(disk: Disk, file: string): Promise<Buffer> {
  try {
    await makeFolder(disk, dirname(file));
    const text = Buffer.from(`${randomBytes(KEY_BYTES).toString('hex')}\n`);
    const complete = await writeBeside(disk, file, (draft) => writeAll(draft, text, 0));
    // If two processes create it at the same time, one wins, and both use its key.
    await disk.link(complete, file).catch((error) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
    await disk.unlink(complete);
    await disk.syncFolder(dirname(file));
  } catch (error) {
    throw new UserError(
      'user-key-unwritable',
      `Raymond cannot save your key in ${file}: ${reasonOf(error)}.`,
      `${cureOf(error)}, or set XDG_STATE_HOME to a folder that you own.`,
      { file },
    );
  }
  const key = await readKey(file);
  if (key === undefined) throw unusable(file, 'it was removed again');
  return key;
}

async function readKey(file: string): Promise<Buffer | undefined> {
  let text: string;
  try {
    const { uid, mode } = await lstat(file);
    const isOurs = process.getuid === undefined || uid === process.getuid();
    if (!isOurs) throw unusable(file, 'it belongs to another user');
    if (process.getuid !== undefined && (mode & 0o077) !== 0)
      throw unusable(file, 'other users can read or change it');
    const problem = linkProblem(file, () => lstatSync(file));
    if (problem !== undefined) throw unusable(file, problem);
    text = (await readRegularFile(file, 1024)).toString();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error instanceof UserError ? error : unusable(file, reasonOf(error));
  }
  if (!/^[0-9a-f]{64}\n$/.test(text)) throw unusable(file, 'it is damaged');
  return Buffer.from(text.trim(), 'hex');
}

function unusable(file: string, why: string): UserError {
  return new UserError(
    'user-key-unusable',
    `Your key ${file} cannot be used: ${why}.`,
    'Remove it. Raymond creates a new one when needed. Repeat answers that no run has used yet.',
    { file },
  );
}
