/**
 * The names that a tag gives to a worktree and to its base. An agent may have written them, so they
 * cannot be options of git, leave their folder, or make git search its history by a pattern.
 */
import { clip } from './clip.ts';

/** Why a text cannot name a worktree; undefined when it can. */
export function worktreeNameProblem(name: string): string | undefined {
  if (name === 'false')
    return 'worktree is "false": leave it out if the child agent needs no worktree';
  if (isBranchPart(name)) return undefined;
  return `"${clip(name)}" cannot name a worktree: use at most ${MOST_BYTES} bytes of letters, digits, ".", "_" and "-". Begin with a letter, a digit or "_". Do not use "..", or "." or ".lock" at the end`;
}

/** Whether a text can be a part of the name of a branch, and of a file. */
export function isBranchPart(text: string): boolean {
  return (
    /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}._-]*$/u.test(text) &&
    !text.includes('..') &&
    !/(?:\.|\.lock)$/i.test(text) &&
    encodeURIComponent(text).replace(/%../g, 'x').length <= MOST_BYTES
  );
}

/** Why a text cannot name the commit from which a worktree starts; undefined when it can. */
export function baseProblem(base: string): string | undefined {
  if (base === '') return 'base is empty: name a branch, a tag or a commit';
  const isName = base.length <= LONGEST_BASE && /^[^-\s\p{C}:?*[\\][^\s\p{C}:?*[\\]*$/u.test(base);
  if (isName && !base.includes('{/')) return undefined;
  return `"${clip(base)}" cannot be a base: name a branch, a tag or a commit`;
}

/** A file name has at most 255 bytes, and git appends an extension to it. */
const MOST_BYTES = 200;
const LONGEST_BASE = 250;
