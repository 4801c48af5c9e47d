/**
 * The rules with which Claude Code denies changes of protected files, to its editing tools and to the file
 * commands in its shell. It reads patterns like those of a .gitignore file, and ignores case. A rule for
 * a folder covers everything in it, and no other rule can open a part of it again.
 */
import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { isWithin } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';
import { type Protected, type ProtectedStep, protection } from '../agents/protected-files.ts';

export interface DenyRules {
  /** The same for all states of an agent that works in the same folders. */
  readonly fixed: readonly string[];
  /**
   * For the states that the run can reach, as far as it is known now. A warm process keeps those of its first
   * prompt: Raymond compares a state with what the run has read before it uses it, so an agent that changes
   * one stops its own run.
   */
  readonly states: readonly string[];
}

export function denyRules(given: Protected, step: ProtectedStep): DenyRules {
  const { projectFolder, userFolder, reached, files = [] } = given;
  const used = [step.cwd, step.taskFolder];
  const hidden = allBut(userFolder, used);
  const { roots, commandFiles } = protection(given, step);
  const { files: states, text } = reached(step.places);
  const patterns = [
    ...allBut(projectFolder, used),
    ...hidden,
    ...foldersBetween(step.cwd, projectFolder).map(escaped),
    ...files.map(escaped),
    ...roots.flatMap((root) => commandFiles.map((name) => `${inside(root)}/**/${name}`)),
  ];
  const rules = (tool: string, all: readonly string[]) => all.map((one) => `${tool}(/${one})`);
  return {
    fixed: [...rules('Read', hidden), ...rules('Edit', patterns)],
    states: rules('Edit', states.filter((file) => !isTwinWanted(file, text)).map(escaped)),
  };
}

/** An agent may work in a part of the folder. Then the other parts are denied, as far as patterns allow. */
function allBut(folder: string, used: readonly string[]): readonly string[] {
  const parts = used.flatMap((path) =>
    isWithin(folder, path) ? [relative(folder, path).split(sep)[0] ?? ''] : [],
  );
  if (parts.length === 0) return [escaped(folder)];
  const first = new Set(parts.map((part) => part.charAt(0).toLowerCase()));
  // Claude Code reads a class like [!w] as [w].
  const others = [...'abcdefghijklmnopqrstuvwxyz'].filter((letter) => !first.has(letter));
  return [`${escaped(folder)}/[${others.join('')}0-9._-]*`];
}

/** Who moves one of these also moves the project folder. */
function foldersBetween(cwd: string, projectFolder: string): readonly string[] {
  const parent = dirname(projectFolder);
  if (parent === cwd || !isWithin(cwd, parent)) return [];
  return [parent, ...foldersBetween(cwd, parent)];
}

/**
 * Whether an agent has to write a file whose name differs from that of a state only by case: one exists, or a
 * prompt names it. A rule would deny it. The run uses the state as it has read it, whatever happens to
 * the file, and reads it again only after a person has agreed.
 */
function isTwinWanted(file: string, text: string): boolean {
  const name = basename(file);
  const pattern = new RegExp(
    `(?<![\\w.-])${name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}(?![\\w-])`,
    'giu',
  );
  const named = [...text.matchAll(pattern)].map(([found]) => found);
  const isTwin = (other: string) => other !== name && other.toLowerCase() === name.toLowerCase();
  const beside = attempt(() => readdirSync(dirname(file))) ?? [];
  return [...named, ...beside].some(
    (other) => isTwin(other) && !isSameFile(file, join(dirname(file), other)),
  );
}

/** On a file system that ignores case. */
function isSameFile(file: string, other: string): boolean {
  const [one, two] = [file, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return one !== undefined && one.ino === two?.ino && one.dev === two.dev;
}

const inside = (root: string) => escaped(root === '/' ? '' : root);

function escaped(path: string): string {
  return path.replace(/[\\[\]*?!#]/g, '\\$&').replace(/ $/, '\\ ');
}
