/**
 * INV-49: No file of a proposal reaches a project unless a person has accepted exactly this proposal.
 *
 * The proposals of agents, in the folder of the user, outside of all projects. Each is one file, named after
 * the hash of its content. Nothing executes them.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { hasCode, readText, realDisk, replaceFile } from '../../journal/disk.ts';
import {
  type KeptProposal,
  MOST_PROPOSED,
  type Proposal,
  proposalSchema,
} from '../../model/proposal.ts';
import { UserError } from '../../model/user-error.ts';
import { checkOwn, makeOwnFolder, userStateFolder } from './user-folders.ts';

const recordSchema = z.object({ at: z.number(), proposal: proposalSchema });

/** Stores it, unless it is stored already. Throws a UserError if there are too many. */
export async function keepProposal(proposal: Proposal, at: number): Promise<KeptProposal> {
  const { project } = proposal;
  const id = idOf(proposal);
  const known = await proposalsOf(project);
  const same = known.find((one) => one.id === id);
  if (same) return same;
  if (known.length >= MOST_PROPOSED.proposals)
    throw new UserError(
      'too-many-proposals',
      `${known.length} proposals for this project wait for a person, and no more are kept.`,
      'Ask a person to accept or reject some: raymond trust --proposals',
    );
  await makeOwnFolder(folderOf(project));
  const text = `${JSON.stringify({ at, proposal }, undefined, 2)}\n`;
  await replaceFile(realDisk, fileOf(project, id), text);
  return { ...proposal, id, at };
}

/** The oldest first. A file that is not a proposal of this project is ignored. */
export async function proposalsOf(project: string): Promise<readonly KeptProposal[]> {
  const folder = folderOf(project);
  await checkOwn(folder);
  const names = await realDisk.list(folder).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  });
  const found: KeptProposal[] = [];
  for (const name of names.filter((one) => one.endsWith('.json')).slice(0, MOST_FILES)) {
    const id = name.slice(0, -'.json'.length);
    const kept = await readProposal(project, id);
    if (kept) found.push(kept);
  }
  return found.sort((a, b) => a.at - b.at);
}

/** Undefined if there is none, or if its content is not that of which the id speaks. */
async function readProposal(project: string, id: string): Promise<KeptProposal | undefined> {
  const file = fileOf(project, id);
  await checkOwn(file);
  const text = await readText(realDisk, file, MOST_BYTES);
  const record = text === undefined ? undefined : parsed(text);
  if (record?.proposal.project !== project || idOf(record.proposal) !== id) return undefined;
  return { ...record.proposal, id, at: record.at };
}

export async function forgetProposal({ project, id }: KeptProposal): Promise<void> {
  await realDisk.unlink(fileOf(project, id));
}

function idOf({ project, folder, why, files }: Proposal): string {
  const facts = [project, folder, why, files.map((one) => [one.name, one.content, one.replaces])];
  const name = (folder.split('/').at(-1) ?? '').toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const readable = name.slice(0, 40).replace(/^-|-$/g, '') || 'workflow';
  return `${readable}-${sha256(JSON.stringify(facts)).slice(0, 16)}`;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const folderOf = (project: string) =>
  join(userStateFolder(), 'proposals', sha256(project).slice(0, 32));

const fileOf = (project: string, id: string) => join(folderOf(project), `${id}.json`);

function parsed(text: string): z.infer<typeof recordSchema> | undefined {
  try {
    return recordSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** JSON writes some characters with six. */
const MOST_BYTES = 8 * MOST_PROPOSED.bytes;
const MOST_FILES = 10 * MOST_PROPOSED.proposals;
