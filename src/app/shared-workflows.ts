/**
 * Workflows that others share. A person adds one from an archive or a repository, and the lock file of the
 * project records where it came from and the digest of its files. Nothing of it runs before the person starts it,
 * and its triggers need an approval of their own.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import * as z from 'zod/mini';
import { AGENTS } from '../execute/agents/agents.ts';
import { realDisk, replaceFile } from '../journal/disk.ts';
import { lint } from '../lint/lint.ts';
import { allFiles } from '../load/all-files.ts';
import { convert } from '../load/convert.ts';
import { digestOf } from '../load/fingerprints.ts';
import { parsed } from '../model/attempt.ts';
import { counted } from '../model/counted.ts';
import { messageOf } from '../model/message-of.ts';
import type { Door } from '../model/notice.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { leadsOut } from '../options/leads-out.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import { readConfiguration } from '../world/config/configuration.ts';
import { placed } from '../world/diagnostic-line.ts';
import { nameOf, readSource, type SharedSource, withArchive } from '../world/fetch-archive.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { looseLibrary } from '../world/wire.ts';
import { refuseInsideAny } from './refuse-inside.ts';

export const LOCK_FILE = 'raymond-lock.json';

const lockSchema = z.object({
  version: z.literal(1),
  /** By their folders, relative to the lock file. */
  workflows: z.record(z.string(), z.object({ source: z.string(), sha256: z.string() })),
});

type Lock = z.infer<typeof lockSchema>;

export interface AddRequest {
  /** An archive or a folder of a repository, perhaps with `#` and the digest that it must have. */
  readonly source: string;
  readonly folder?: string | undefined;
  readonly agreed?: boolean | undefined;
}

export interface AddedWorkflow {
  /** Relative to the working directory. */
  readonly folder: string;
  readonly sha256: string;
}

/** Undefined if the person does not agree. */
export async function add(
  around: Surroundings,
  { source: given, folder, agreed }: AddRequest,
  door: Door,
): Promise<AddedWorkflow | undefined> {
  await refuseInsideAny(around, 'add a workflow');
  const { text, source, pinned } = sourceIn(given);
  const target = resolve(around.cwd, folder ?? join('flows', nameOf(source)));
  const home = projectOf(around);
  refusePlace(home, target);
  if (existsSync(target))
    throw new UserError(
      'exists',
      `${target} already exists. Nothing was written.`,
      `Name another folder, or update it: raymond update ${shellWord(relative(around.cwd, target))}`,
      { file: target },
    );
  return await withArchive(source, around.cwd, async (archive) => {
    const found = await inspect(around, archive, text, door);
    refuseOther(text, pinned, found.sha256);
    if (
      !(await isAgreed(
        [...found.facts, `  into ${target}`],
        agreed === true || pinned !== undefined,
        door,
      ))
    )
      return undefined;
    await write(around, archive, target, found.workflow);
    await record(home, target, { source: text, sha256: found.sha256 });
    return { folder: relative(around.cwd, target) || '.', sha256: found.sha256 };
  });
}

export interface UpdateRequest {
  /** Relative to the working directory; all, if none is named. */
  readonly folders: readonly string[];
  readonly agreed?: boolean | undefined;
  /** Replaces files that were changed here. */
  readonly force?: boolean | undefined;
  /** Only says which are not current. */
  readonly check?: boolean | undefined;
}

export interface UpdatedWorkflow {
  readonly folder: string;
  readonly outcome: 'current' | 'updated' | 'newer' | 'declined' | 'changed-here' | 'missing';
  readonly sha256: string;
}

/** Fetches workflows again that were added, and replaces those that have changed at their source. */
export async function* update(
  around: Surroundings,
  { folders, agreed, force, check }: UpdateRequest,
  door: Door,
): AsyncGenerator<UpdatedWorkflow> {
  await refuseInsideAny(around, 'update a workflow');
  const home = projectOf(around);
  const { workflows } = await readLock(home);
  const wanted = folders.map((folder) => relative(home, resolve(around.cwd, folder)));
  const unknown = wanted.find((folder) => !Object.hasOwn(workflows, folder));
  if (unknown !== undefined)
    throw wrongUsage(
      `${unknown || '.'} was not added with raymond add.`,
      `Name one of those in ${LOCK_FILE}: ${Object.keys(workflows).join(', ') || 'it has none'}.`,
    );
  for (const [key, entry] of Object.entries(workflows)) {
    if (folders.length > 0 && !wanted.includes(key)) continue;
    const target = resolve(home, key);
    // The lock file of a clone is the text of a stranger.
    refusePlace(home, target);
    const folder = relative(around.cwd, target) || '.';
    const say = (outcome: UpdatedWorkflow['outcome'], sha256 = entry.sha256) => ({
      ...{ folder, outcome, sha256 },
    });
    const { source } = sourceIn(entry.source);
    const here = await digestHere(target);
    yield await withArchive(source, home, async (archive) => {
      const found = await inspect(around, archive, entry.source, door);
      if (found.sha256 === entry.sha256 && here === entry.sha256) return say('current');
      if (check) return say(here === undefined ? 'missing' : 'newer', found.sha256);
      if (here !== undefined && here !== entry.sha256 && !force) return say('changed-here');
      if (!(await isAgreed([...found.facts, `  into ${target}`], agreed === true, door)))
        return say('declined');
      await replace(around, archive, target, found.workflow);
      await record(home, target, { ...entry, sha256: found.sha256 });
      return say('updated', found.sha256);
    });
  }
}

/** The lock file is beside `.raymond`, and both are found from every folder of the project. */
const projectOf = ({ project }: Surroundings) => dirname(project.folder);

function refusePlace(home: string, target: string): void {
  if (target !== home && !leadsOut(relative(home, target), home)) return;
  throw new UserError(
    'bad-place',
    `${target} is not a folder for a workflow: it is outside of the project, behind a link, or a place from which programs take commands. Nothing was written.`,
    'Name a folder inside the project.',
    { file: target },
  );
}

function sourceIn(given: string): {
  readonly text: string;
  readonly source: SharedSource;
  readonly pinned: string | undefined;
} {
  const [, text = '', pinned] = /^([^#]*)(?:#(.*))?$/s.exec(given) ?? [];
  const source = readSource(text);
  if (!source)
    throw wrongUsage(
      `"${given}" is no shared workflow.`,
      'Name an archive, such as https://example.org/flow.zip, or a repository, such as https://example.org/flows.git//review@v1.',
    );
  if (pinned !== undefined && !/^[0-9a-f]{64}$/.test(pinned))
    throw wrongUsage(
      `"${pinned}" is not a SHA-256.`,
      'Write the 64 digits that raymond add has printed, or leave out what follows "#".',
    );
  return { text, source, pinned };
}

function refuseOther(text: string, pinned: string | undefined, sha256: string): void {
  if (pinned === undefined || pinned === sha256) return;
  throw new UserError(
    'other-content',
    `${text} is not the workflow that you named: its SHA-256 is ${sha256}. Nothing was written.`,
    'Ask its author. To see what it contains now, leave out the "#" and what follows.',
  );
}

interface Inspected {
  readonly workflow: Workflow;
  readonly sha256: string;
  /** What a person should know before it is written. */
  readonly facts: readonly string[];
}

/** Reads the archive, and refuses a workflow that has errors. */
async function inspect(
  { project }: Surroundings,
  archive: string,
  from: string,
  door: Door,
): Promise<Inspected> {
  const { options } = await readConfiguration(project);
  const library = looseLibrary(dirname(archive), options);
  const workflow = await library.load(archive);
  const files = await allFiles({ kind: 'zip', path: archive }, workflow.agents);
  const found = lint(workflow);
  for (const diagnostic of found.filter(({ severity }) => severity !== 'note'))
    door.notice({ kind: 'diagnostic', diagnostic: placed(library, workflow, diagnostic) });
  const errors = found.filter(({ severity }) => severity === 'error');
  if (errors.length > 0)
    throw new UserError(
      'broken-workflow',
      `The workflow in ${from} has ${counted(errors.length, 'error')}. Nothing was written.`,
      'Ask its author to correct it, or choose another version.',
    );
  const sha256 = digestOf(files);
  const scripts = [...workflow.states.values()].filter(({ kind }) => kind === 'script');
  const { triggers = [] } = workflow.about;
  const facts = [
    `${workflow.name}, from ${from}`,
    `  ${counted(files.length, 'file')}: ${files.map(({ name }) => name).join(', ')}`,
    `  ${scripts.length === 0 ? 'no scripts' : `scripts, which run as you: ${scripts.map(({ name }) => name).join(', ')}`}`,
    ...(triggers.length > 0
      ? [`  ${counted(triggers.length, 'trigger')}, which start nothing before raymond trust`]
      : []),
    `  sha256 ${sha256}`,
  ];
  return { workflow, sha256, facts };
}

async function isAgreed(facts: readonly string[], given: boolean, door: Door): Promise<boolean> {
  if (given) return true;
  const agreed = await door.agree({ kind: 'shared-workflow', facts });
  if (agreed === undefined)
    throw new UserError(
      'needs-consent',
      'Nothing was written, because nobody could be asked.',
      'Read what it contains, then add --yes, or "#" and its SHA-256 to the source.',
    );
  return agreed;
}

/** The files appear together, or not at all. */
async function write(
  { cwd }: Surroundings,
  from: string,
  to: string,
  { agents }: Workflow,
): Promise<void> {
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  await convert({ from, to, cwd, agents, paths: [], force: false });
}

async function replace(
  around: Surroundings,
  archive: string,
  target: string,
  workflow: Workflow,
): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  const scratch = await mkdtemp(join(dirname(target), '.raymond-update-'));
  try {
    await write(around, archive, join(scratch, 'new'), workflow);
    if (existsSync(target)) await rename(target, join(scratch, 'old'));
    await rename(join(scratch, 'new'), target);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Undefined if it is not there. Another digest, too, if the folder has something that no workflow contains. */
async function digestHere(path: string): Promise<string | undefined> {
  if (!existsSync(path)) return undefined;
  return await allFiles({ kind: 'folder', path }, AGENTS).then(digestOf, () => 'unreadable');
}

async function readLock(home: string): Promise<Lock> {
  const path = join(home, LOCK_FILE);
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return { version: 1, workflows: {} };
  const read = lockSchema.safeParse(parsed(text));
  if (read.success) return read.data;
  throw new UserError(
    'bad-lock-file',
    `${path} is not a lock file of raymond add: ${messageOf(read.error)}`,
    'Restore it from your repository.',
    { file: path },
  );
}

async function record(
  home: string,
  target: string,
  entry: Lock['workflows'][string],
): Promise<void> {
  const lock = await readLock(home);
  const workflows = { ...lock.workflows, [relative(home, target)]: entry };
  const sorted = Object.fromEntries(Object.entries(workflows).sort(([a], [b]) => (a < b ? -1 : 1)));
  await replaceFile(
    realDisk,
    join(home, LOCK_FILE),
    `${JSON.stringify({ version: 1, workflows: sorted }, null, 2)}\n`,
  );
}
