import { join } from 'node:path';
import { isWithin } from '../../files/regular-file.ts';

/**
 * Denies an agent changes to Raymond's own files and to the files of its workflow. The rules apply to
 * its editing tools and to file commands in its shell.
 */
export interface Protected {
  /** `.raymond` of the project. */
  readonly projectFolder: string;
  /** Further files, absolute. */
  readonly files?: readonly string[];
  /** The files of a workflow, absolute. */
  readonly filesOf: (workflow: string) => readonly string[];
}

export function denyRules(
  { projectFolder, files = [], filesOf }: Protected,
  { workflow, cwd }: { readonly workflow: string; readonly cwd: string },
): string[] {
  const own = escaped(projectFolder);
  // An agent in a worktree must be able to change it. The permission mode protects the others.
  const isInWorktree = isWithin(join(projectFolder, 'worktrees'), cwd);
  const patterns = [
    // Everything except `runs` and `worktrees`, and in a run everything except `tasks`: these contain
    // the agents' own folders. Claude Code ignores case, and it reads a class like [!rw] as [rw].
    `${own}/[a-qs-vx-z0-9._-]*`,
    `${own}/runs/*/[a-su-z0-9._-]*`,
    ...(isInWorktree ? [] : [`${own}/w*`]),
    ...[...files, ...filesOf(workflow)].map(escaped),
  ];
  return TOOLS.flatMap((tool) => patterns.map((pattern) => `${tool}(/${pattern})`));
}

const TOOLS = ['Edit', 'Write', 'NotebookEdit'];

/** Claude Code reads patterns like those of a .gitignore file. */
function escaped(path: string): string {
  return path.replace(/[\\[\]*?!#]/g, '\\$&').replace(/ $/, '\\ ');
}
