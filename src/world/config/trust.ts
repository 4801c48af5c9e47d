/**
 * The user's approvals of config files and agent settings in projects. An approval applies to files with
 * their content. Each is stored in its own file, so two processes cannot overwrite each other's.
 */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import type { Approvals } from '../../execute/agents/project-settings.ts';
import { hasCode, readText, realDisk, replaceFile } from '../../journal/disk.ts';
import type { Trigger } from '../../model/trigger.ts';
import { realPath } from '../../options/leads-out.ts';
import { checkOwn, homeFolder, makeOwnFolder, userConfigFolder } from './user-folders.ts';

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

/** Returns whether the file, or the folder with its settings for agents, was approved. */
export async function revoke(file: string): Promise<boolean> {
  try {
    await realDisk.unlink(recordOf(file));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** The approved settings for agents: the hash of each file, by its path in the project. */
export async function approvalsOf(root: string): Promise<Approvals> {
  const record = recordOf(root);
  await checkOwn(dirname(record));
  await checkOwn(record);
  const text = await readText(realDisk, record, MAX_RECORD_BYTES);
  const read = text === undefined ? undefined : settingsSchema.safeParse(parsed(text));
  const isOwn = read?.success && read.data.folder === (realPath(root) ?? root);
  return { root, home: homeFolder(), files: isOwn ? read.data.files : {} };
}

export async function approveSettings(
  root: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  const record = recordOf(root);
  await makeOwnFolder(dirname(record));
  await replaceFile(
    realDisk,
    record,
    `${JSON.stringify({ folder: realPath(root) ?? root, files })}\n`,
  );
}

/** Whether the user has approved exactly these triggers of this workflow. */
export function areTriggersApproved(ref: string, triggers: readonly Trigger[]): Promise<boolean> {
  return isTrusted(triggersOf(ref), JSON.stringify(triggers));
}

export function approveTriggers(ref: string, triggers: readonly Trigger[]): Promise<void> {
  return trust(triggersOf(ref), JSON.stringify(triggers));
}

export const revokeTriggers = (ref: string): Promise<boolean> => revoke(triggersOf(ref));

/** No file has this name, so the approval of a folder is another one. */
const triggersOf = (ref: string) => `${realPath(ref) ?? ref}#triggers`;

const settingsSchema = z.object({ folder: z.string(), files: z.record(z.string(), z.string()) });

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Every approval is a file in it. */
const approvalsFolder = () => join(userConfigFolder(), 'trusted');

/** The folder in which a new approval can be noticed. */
export async function watchedApprovals(): Promise<string> {
  await makeOwnFolder(approvalsFolder());
  return approvalsFolder();
}

function recordOf(file: string): string {
  return join(approvalsFolder(), `${sha256(realPath(file) ?? file)}.json`);
}

function approval(file: string, text: string): string {
  return `${JSON.stringify({ file: realPath(file) ?? file, sha256: sha256(text) })}\n`;
}

/** A project may have many files for agents. */
const MAX_RECORD_BYTES = 4 * 1024 * 1024;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
