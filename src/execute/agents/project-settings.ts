/**
 * In a folder whose settings for agents the user has not approved, no agent loads them.
 *
 * A project can command an agent with files: hooks, servers, helpers, plugins. An approval is for files
 * with their content. Raymond compares it before each process, so what an agent writes there does not count.
 */
import { createHash } from 'node:crypto';
import { type Dirent, existsSync, lstatSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isPlaceholder } from '../../files/command-files.ts';
import { isWithin, readRegularFileSync, realOrSame } from '../../files/regular-file.ts';
import { withParents } from '../../files/walk.ts';
import type { AgentDeclaration } from '../../model/agent.ts';
import { attempt } from '../../model/attempt.ts';

/** The approvals of the user. */
export interface Approvals {
  /** The folder of the project. Its worktrees have the same approvals. */
  readonly root: string;
  /** Where the user's own settings are. */
  readonly home: string;
  /** The hash of each approved file, by its path in the project. */
  readonly files: Readonly<Record<string, string>>;
}

export interface SettingsFile {
  /** Relative to the root of its project or worktree; absolute outside of both. */
  readonly name: string;
  readonly path: string;
  /** Undefined if it cannot be approved: a link, a device, or too large. */
  readonly hash: string | undefined;
}

export interface Skipped {
  /** The files that the agent is told not to load. */
  readonly told: readonly string[];
  /** The files that it would load anyway, so it must not start. */
  readonly insisted: readonly string[];
}

/** The files that command an agent in a directory and that the user has not approved. */
export function unapprovedSettings(
  { projectSettings: { names, skips, isTrusted } }: Pick<AgentDeclaration, 'projectSettings'>,
  directory: string,
  approvals: Approvals,
): Skipped {
  const unapproved = settingsFiles(names, directory, approvals).filter(
    ({ name, hash }) => hash === undefined || approvals.files[name] !== hash,
  );
  if (unapproved.length === 0 || isTrusted?.(projectFolders(directory, approvals))) return NONE;
  const isSkipped = ({ name }: SettingsFile) => skips.some((skip) => isNamed(name, skip));
  return {
    told: unapproved.filter(isSkipped).map(({ name }) => name),
    insisted: unapproved.filter((file) => !isSkipped(file)).map(({ name }) => name),
  };
}

const NONE: Skipped = { told: [], insisted: [] };

export const APPROVE = 'To see and approve them: raymond trust';

export function insistedFact(agent: string, files: readonly string[]): string {
  return `${agent} would load settings of this project that you have not approved: ${listed(files)}.`;
}

export function toldFact(
  { name, projectSettings }: Pick<AgentDeclaration, 'name' | 'projectSettings'>,
  files: readonly string[],
): string {
  const { alsoSkips } = projectSettings;
  const also = alsoSkips === undefined ? '' : `, nor its ${alsoSkips}`;
  return `${name} does not load settings of this project that you have not approved (${listed(files)})${also}.`;
}

const MOST_NAMED = 5;

function listed(files: readonly string[]): string {
  const more = files.length - MOST_NAMED;
  return [...files.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** All files that have these names, or are in folders with these names, in a directory or above it. */
export function settingsFiles(
  names: readonly string[],
  directory: string,
  { root, home }: Pick<Approvals, 'root' | 'home'>,
): readonly SettingsFile[] {
  const here = realOrSame(directory);
  const top = topOf(here);
  // The files in the home folder are the user's own, and no project brings files there.
  const folders = withParents(here).filter((folder) => folder !== home);
  const found = folders.flatMap((folder) => names.flatMap((name) => filesAt(join(folder, name))));
  return found.map((file) => ({ name: nameOf(file.path, top, realOrSame(root)), ...file }));
}

/** The directory and the folders above it that belong to its project. */
function projectFolders(directory: string, { root }: Approvals): readonly string[] {
  const here = realOrSame(directory);
  const project = realOrSame(root);
  const top = isWithin(project, here) ? project : (topOf(here) ?? here);
  return withParents(here).filter((folder) => isWithin(top, folder));
}

/** The folder with the `.git` of a directory. */
function topOf(directory: string): string | undefined {
  return withParents(directory).find((folder) => existsSync(join(folder, '.git')));
}

function nameOf(path: string, top: string | undefined, root: string): string {
  if (top !== undefined && isWithin(top, path)) return relative(top, path);
  return isWithin(root, path) ? relative(root, path) : path;
}

function isNamed(path: string, name: string): boolean {
  return `/${path}/`.includes(`/${name}/`);
}

/** No link is followed: its target may change without a change of the link. */
function filesAt(path: string): readonly Omit<SettingsFile, 'name'>[] {
  const kind = lstatSync(path, { throwIfNoEntry: false });
  if (!kind || isPlaceholder(path, kind)) return [];
  if (!kind.isDirectory()) return [{ path, hash: kind.isFile() ? hashOf(path) : undefined }];
  const found: Omit<SettingsFile, 'name'>[] = [];
  const open = [path];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const entries = entriesOf(folder);
    if (!entries) return [{ path, hash: undefined }];
    for (const entry of entries) {
      const inner = join(folder, entry.name);
      if (entry.isDirectory()) open.push(inner);
      else found.push({ path: inner, hash: entry.isFile() ? hashOf(inner) : undefined });
      if (found.length > MOST_FILES) return [{ path, hash: undefined }];
    }
  }
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

const MOST_FILES = 2_000;
const MOST_BYTES = 4 * 1024 * 1024;

/** Undefined if the folder cannot be read. */
function entriesOf(folder: string): readonly Dirent[] | undefined {
  return attempt(() => readdirSync(folder, { withFileTypes: true }));
}

function hashOf(path: string): string | undefined {
  return attempt(() =>
    createHash('sha256').update(readRegularFileSync(path, MOST_BYTES)).digest('hex'),
  );
}
