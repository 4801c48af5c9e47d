/**
 * Proposals of agents: new or changed files of one workflow. An agent can only store one. A person looks
 * at it and accepts it, and then its files are written into the project.
 */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve, sep } from 'node:path';
import { commandFileIn } from '../files/command-files.ts';
import { isWithin, readFileWithin, readRegularFile } from '../files/regular-file.ts';
import { hasCode, makeFolder, realDisk, writeAll, writeBeside } from '../journal/disk.ts';
import { isSystemError, reasonOf } from '../journal/disk-errors.ts';
import { isCompanion } from '../load/companions.ts';
import { hasOwn, sha256 } from '../load/fingerprints.ts';
import { MAX_STATE_BYTES } from '../load/folder.ts';
import { counted } from '../model/counted.ts';
import { type KeptProposal, MOST_PROPOSED, type Proposal } from '../model/proposal.ts';
import { UserError } from '../model/user-error.ts';
import { visible } from '../model/visible.ts';
import { leadsOut, realPath } from '../options/leads-out.ts';
import { isStateFile } from '../parse/state.ts';
import { readConfiguration } from '../world/config/configuration.ts';
import { forgetProposal, keepProposal, proposalsOf } from '../world/config/proposals.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { looseLibrary, ownFileOf } from '../world/wire.ts';
import { type CheckReport, check } from './check.ts';
import { refuseInsideAny } from './refuse-inside.ts';
import { rootOf } from './triggers.ts';

export interface ProposalWish {
  /** The folder of the workflow, from the working directory. */
  readonly workflow: string;
  readonly why: string;
  readonly files: readonly { readonly name: string; readonly content: string }[];
}

export type Proposed =
  | { readonly kind: 'kept'; readonly proposal: KeptProposal; readonly report: CheckReport }
  /** Nothing is stored, so that no person has to read it. */
  | { readonly kind: 'faulty'; readonly report: CheckReport };

/** Checks a proposal and stores it for a person. Executes nothing, and changes nothing in the project. */
export async function propose(around: Surroundings, wish: ProposalWish): Promise<Proposed> {
  const project = rootOf(around);
  const target = targetOf(around, wish.workflow);
  checkSizes(wish);
  for (const [at, { name }] of wish.files.entries()) checkName(name, wish.files.slice(0, at));
  const found = await Promise.all(wish.files.map(({ name }) => contentAt(target, name)));
  const proposal: Proposal = {
    project,
    folder: relative(project, target).replaceAll(sep, '/'),
    why: wish.why,
    files: wish.files.map(({ name, content }, at) => {
      const now = found[at];
      return { name, content, replaces: now === undefined ? null : sha256(now) };
    }),
  };
  const report = await checkProposal(around, proposal);
  if (report.verdict === 'faulty') return { kind: 'faulty', report };
  return { kind: 'kept', proposal: await keepProposal(proposal, around.clock.now()), report };
}

/** The proposals for this project, the oldest first. */
export function proposals(around: Surroundings): Promise<readonly KeptProposal[]> {
  return proposalsOf(rootOf(around));
}

/** A proposal with what it would replace, and what a check of it says now. */
export interface ShownProposal {
  readonly proposal: KeptProposal;
  readonly files: readonly {
    readonly name: string;
    readonly before: string | undefined;
    readonly after: string;
    /** The file in the project has changed since the proposal was made. */
    readonly isOutdated: boolean;
  }[];
  readonly report: CheckReport;
}

export async function lookAtProposal(around: Surroundings, id: string): Promise<ShownProposal> {
  const proposal = await proposalNamed(around, id);
  const target = targetOf(around, join(proposal.project, proposal.folder));
  const files = await Promise.all(
    proposal.files.map(async ({ name, content, replaces }) => {
      const now = await contentAt(target, name);
      const isOutdated = (now === undefined ? null : sha256(now)) !== replaces;
      return { name, before: now?.toString('utf8'), after: content, isOutdated };
    }),
  );
  return { proposal, files, report: await checkProposal(around, proposal) };
}

/** Writes the files into the project. The person has seen them, and nothing has changed since then. */
export async function acceptProposal(around: Surroundings, id: string): Promise<string> {
  await refuseInsideAny(around, 'accept a proposal');
  const proposal = await proposalNamed(around, id);
  const target = targetOf(around, join(proposal.project, proposal.folder));
  for (const { name } of proposal.files) checkName(name, []);
  await refuseOutdated(target, proposal);
  const written: string[] = [];
  try {
    await makeFolder(realDisk, target);
    // Links may have appeared since the first look.
    targetOf(around, target);
    for (const file of proposal.files) {
      await put(target, file);
      written.push(file.name);
    }
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const some = written.length > 0 ? `Only ${written.join(', ')} were written.` : 'Nothing was.';
    throw new UserError(
      'unwritable',
      `${target} cannot be written: ${reasonOf(error)}. ${some}`,
      'Fix the cause, and ask the agent for a new proposal.',
      { file: target },
    );
  }
  await forgetProposal(proposal);
  return target;
}

export async function rejectProposal(around: Surroundings, id: string): Promise<void> {
  await refuseInsideAny(around, 'reject a proposal');
  await forgetProposal(await proposalNamed(around, id));
}

async function proposalNamed(around: Surroundings, id: string): Promise<KeptProposal> {
  const found = (await proposals(around)).find((one) => one.id === id);
  if (found) return found;
  throw new UserError(
    'no-proposal',
    `This project has no proposal ${id}.`,
    'To list them: raymond trust --proposals',
  );
}

/** The real path of the folder of a workflow. No part of it is a link or means something to other programs. */
function targetOf(around: Surroundings, named: string): string {
  const root = rootOf(around);
  const path = resolve(realPath(around.cwd) ?? around.cwd, named);
  const parts = relative(root, path).split(sep);
  const isOrdinary =
    path !== root && isWithin(root, path) && !leadsOut(path, root) && realPath(path) === path;
  if (isOrdinary && parts.length <= MOST_PARTS && parts.every(isPlain)) return path;
  throw new UserError(
    'wrong-place',
    `A proposal cannot be for ${visible(named)}.`,
    'Name an ordinary folder inside the project, such as workflows/review. It must not be hidden, and no link may lead to it.',
  );
}

const MOST_PARTS = 8;

/** A name that means the same to every program, and that a person can read. */
function isPlain(name: string): boolean {
  return (
    /^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_. -]{0,99}$/u.test(name) &&
    !/[. ]$/.test(name) &&
    name === name.normalize('NFC') &&
    name !== 'node_modules'
  );
}

/** A file of a workflow: a state, the manifest, a schema, a companion, or plain data. */
function checkName(name: string, earlier: ProposalWish['files']): void {
  const isKnown = hasOwn(name) || isCompanion(name) || /\.(txt|csv|tsv)$/.test(name);
  const isTwice = earlier.some((one) => one.name.toLowerCase() === name.toLowerCase());
  if (isPlain(name) && isKnown && commandFileIn(name) === undefined && !isTwice) return;
  throw new UserError(
    'wrong-name',
    `A proposal cannot have a file named ${visible(name)}${isTwice ? ' twice' : ''}.`,
    'Name states (.md, .sh, .ps1, .bat), workflow.yaml, *.schema.json, rehearsal.yaml, *.test.yaml, README.md, or data (.txt, .csv, .tsv), without a folder.',
  );
}

function checkSizes({ files, why }: ProposalWish): void {
  const { files: most, fileBytes, bytes, whyLength } = MOST_PROPOSED;
  const sizes = files.map(({ content }) => Buffer.byteLength(content));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const isText = files.every(
    ({ content }) => !content.includes('\0') && Buffer.from(content).toString('utf8') === content,
  );
  if (files.length === 0 || files.length > most || why.length > whyLength)
    throw tooLarge(`has ${counted(files.length, 'file')}`, `1 to ${most} files`);
  if (sizes.some((size) => size > fileBytes) || all > bytes)
    throw tooLarge(`has ${all} bytes`, `${fileBytes / 1024} KiB per file, ${bytes / 1024} KiB`);
  if (!isText) throw tooLarge('has a file that is no text', 'text in UTF-8');
}

const tooLarge = (fact: string, allowed: string) =>
  new UserError(
    'proposal-too-large',
    `The proposal ${fact}. It can have ${allowed}, and a reason of ${MOST_PROPOSED.whyLength} characters.`,
    'Propose less at a time, because a person has to read it.',
  );

/** Undefined if there is no such file. A link or a file of another kind is an error. */
async function contentAt(folder: string, name: string): Promise<Buffer | undefined> {
  const path = join(folder, name);
  const found = await realDisk.look(path);
  if (!found) return undefined;
  if (found.kind === 'file') return readRegularFile(path, MAX_STATE_BYTES);
  throw new UserError('wrong-place', `${path} is not a regular file.`, 'Name another file.');
}

async function refuseOutdated(target: string, { files }: Proposal): Promise<void> {
  for (const { name, replaces } of files) {
    const now = await contentAt(target, name);
    if ((now === undefined ? null : sha256(now)) === replaces) continue;
    throw new UserError(
      'outdated-proposal',
      `${join(target, name)} has changed since the proposal was made. Nothing was written.`,
      'Ask the agent for a new proposal.',
    );
  }
}

/** A new file never replaces one that appeared at this moment. */
async function put(
  folder: string,
  { name, content, replaces }: Proposal['files'][number],
): Promise<void> {
  const path = join(folder, name);
  const mode = replaces === null ? undefined : (await realDisk.look(path))?.mode;
  const beside = await writeBeside(realDisk, path, (file) =>
    writeAll(file, Buffer.from(content), 0),
  );
  if (mode !== undefined) {
    await realDisk.chmod(beside, mode & 0o777);
    await realDisk.rename(beside, path);
  } else {
    await realDisk.link(beside, path).finally(() => realDisk.unlink(beside));
  }
  await realDisk.syncFolder(folder);
}

/** The report of a check as if the proposal were accepted. Its files are in a temporary folder only. */
async function checkProposal(around: Surroundings, proposal: Proposal): Promise<CheckReport> {
  const { options } = await readConfiguration(around.project);
  const target = join(proposal.project, proposal.folder);
  const root = await mkdtemp(join(tmpdir(), 'raymond-proposal-'));
  try {
    const copy = join(root, basename(target));
    await copyWith(target, proposal, copy);
    const own = looseLibrary(root, options);
    const packed = await own
      .load(copy)
      .then(async ({ files = {} }) => ({ files, ...(await own.pack(copy)) }))
      .catch((error: unknown) => {
        if (error instanceof UserError) return undefined;
        throw error;
      });
    const folder = join(root, 'unpacked');
    const inPlace = (report: CheckReport) => withPaths(report, [copy, folder], target);
    if (!packed) return inPlace(await check(around, copy, { library: own }));
    // Its tags name other workflows from where it will be.
    const library = looseLibrary(around.cwd, options, {
      archive: async (container) => (container === target ? packed.archive : undefined),
      expected: (ref) => (ref === target ? packed.files : undefined),
      folder,
    });
    const ofCopy = ownFileOf(own.unpackingInto(join(root, 'source')));
    const ofOthers = ownFileOf(library.unpackingInto(join(root, 'source')));
    const fileOf = (ref: string) => (ref === target ? ofCopy(copy) : ofOthers(ref));
    return inPlace(await check(around, target, { library, fileOf }));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** The same report, with the place where the files will be. */
function withPaths(
  report: CheckReport,
  [copy, unpacked]: readonly [string, string],
  target: string,
): CheckReport {
  const name = basename(target);
  const within = (text: string) =>
    text
      .split(unpacked)
      .map((part, at) => {
        const end = at === 0 ? -1 : part.indexOf(name);
        return end < 0 ? part : `${target}${part.slice(end + name.length)}`;
      })
      .join('')
      .replaceAll(copy, target);
  return JSON.parse(JSON.stringify(report), (_, value) =>
    typeof value === 'string' ? within(value) : value,
  );
}

/** The files of the workflow as they would be. */
async function copyWith(target: string, { files }: Proposal, copy: string): Promise<void> {
  await mkdir(copy, { recursive: true, mode: 0o700 });
  const names = await readdir(target).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  });
  const isProposed = new Set(files.map(({ name }) => name));
  for (const name of names) {
    if (isProposed.has(name) || !(hasOwn(name) || isCompanion(name))) continue;
    // A file that cannot be read is a fault of the workflow, and not of the proposal.
    const bytes = await readFileWithin(target, name, MAX_STATE_BYTES).catch(() => undefined);
    if (bytes) await writeFile(join(copy, name), bytes, { mode: 0o600, flag: 'wx' });
  }
  for (const { name, content } of files)
    await writeFile(join(copy, name), content, { mode: 0o600, flag: 'wx' });
  const isNew = names.length === 0;
  if (isNew || names.some((name) => isStateFile(name))) return;
  throw new UserError(
    'wrong-place',
    `${target} has files, but no states, so it is not a workflow.`,
    'Name the folder of a workflow, or one that does not exist yet.',
  );
}
