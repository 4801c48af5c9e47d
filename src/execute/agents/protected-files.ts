/**
 * What an agent must not change: Raymond's own folder, the states that the run can reach, and the files from
 * which programs take commands.
 */
import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { COMMAND_FILES, commandFileIn } from '../../files/command-files.ts';
import { isWithin } from '../../files/regular-file.ts';
import type { Place } from '../../ports.ts';

/** What an agent must not change. All paths are absolute. */
export interface Protection {
  /** Files, and folders with everything in them. */
  readonly protects: readonly string[];
  /** Folders that it must not read either, because the user's keys are there. */
  readonly hides: readonly string[];
  /** Folders that it may change although they are in these, or not in its directory. */
  readonly opens: readonly string[];
  /** Folders in which the command files are protected, at any depth. */
  readonly roots: readonly string[];
  readonly commandFiles: readonly string[];
}

export interface Protected {
  /** `.raymond` of the project, or the folder of a worker. */
  readonly projectFolder: string;
  /** The folder of the user for files of Raymond. */
  readonly userFolder: string;
  /** The folder of the user's configuration and approvals. */
  readonly configFolder?: string;
  /** The files of the states that the run can reach. */
  readonly reached: (places: readonly Place[]) => Reached;
  /** Further files. */
  readonly files?: readonly string[];
  /** The value of a secret that is ready. */
  readonly secretOf?: (name: string) => string;
  /** Further folders that agents may use. */
  readonly folders?: readonly string[];
}

export interface Reached {
  readonly files: readonly string[];
  /** The prompts among them. */
  readonly text: string;
}

export interface ProtectedStep {
  readonly places: readonly Place[];
  readonly cwd: string;
  readonly taskFolder: string;
  readonly skipPermissions: boolean;
}

/** Who runs any command needs no command files, so their protection would only hinder. */
export function protection(
  { projectFolder, userFolder, configFolder, reached, files = [], folders = [] }: Protected,
  { places, cwd, taskFolder, skipPermissions }: ProtectedStep,
): Protection {
  const roots = [...new Set([dirname(projectFolder), cwd, taskFolder, ...folders])];
  const isInner = (root: string) => roots.some((one) => one !== root && isWithin(one, root));
  return {
    protects: [
      projectFolder,
      userFolder,
      ...(configFolder === undefined ? [] : [configFolder]),
      ...files,
      ...reached(places).files,
    ],
    hides: [userFolder],
    opens: [
      taskFolder,
      ...([projectFolder, userFolder].some((one) => isWithin(one, cwd)) ? [cwd] : []),
    ],
    roots: skipPermissions ? [] : roots.filter((root) => !isInner(root)),
    commandFiles: COMMAND_FILES,
  };
}

/**
 * The protected file or folder that a change of this path would change. With `wholeFolder` also what is in it:
 * who moves a folder moves everything in it.
 */
export function protectedBy(
  path: string,
  protection: Protection,
  wholeFolder = false,
): string | undefined {
  // The name of a link counts, and so does the file to which it leads.
  for (const spelling of new Set([path, realOf(path)])) {
    const found = ownFile(spelling, protection, wholeFolder) ?? commandFile(spelling, protection);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The same for the words of a command, to explain why it was refused. */
export function protectedIn(command: string, cwd: string, given: Protection): string | undefined {
  const words = command.split(/[\s'"=;|&<>()]+/).filter((word) => word !== '');
  for (const word of words) {
    const found = protectedBy(resolve(cwd, word), given);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a path is in a folder that the agent must not read. */
export function isHidden(path: string, { hides, opens }: Protection): boolean {
  const real = realOf(path);
  const isIn = (folders: readonly string[]) =>
    folders.flatMap(spellings).some((one) => holds(one, real));
  return isIn(hides) && !isIn(opens);
}

function ownFile(
  path: string,
  { protects, opens }: Protection,
  wholeFolder: boolean,
): string | undefined {
  const isOpen = opens.flatMap(spellings).some((open) => isWithin(open, path));
  return protects
    .flatMap(spellings)
    .find((one) => (!isOpen && holds(one, path)) || (wholeFolder && holds(path, one)));
}

/** Outside of all roots, every part of the path counts. */
function commandFile(path: string, { roots, commandFiles }: Protection): string | undefined {
  if (roots.length === 0) return undefined;
  const root = roots.flatMap(spellings).find((one) => isWithin(one, path));
  return commandFileIn(root === undefined ? path : relative(root, path), commandFiles);
}

const spellings = (path: string) => [path, realOf(path)];

/** Some file systems ignore case. */
function holds(folder: string, path: string): boolean {
  if (isWithin(folder, path)) return true;
  return IGNORES_CASE && isWithin(folder.toLowerCase(), path.toLowerCase());
}

const IGNORES_CASE = process.platform === 'darwin' || process.platform === 'win32';

/** With the links resolved of what exists of it. */
export function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realOf(parent), basename(path));
  }
}
