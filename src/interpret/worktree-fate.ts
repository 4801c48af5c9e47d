import type { Agent, Run } from '../model/run.ts';

/**
 * Decides what becomes of a worktree when its agent is over. One without any work is removed, unless
 * another agent works in it or will return to it.
 */
export function worktreeFate(run: Run, { id, worktree }: Agent): 'kept' | 'removing' | undefined {
  if (!worktree?.tree) return undefined;
  const { tree, look } = worktree;
  if (!look || look.dirty || look.commits > 0) return 'kept';
  for (const [other, { cwd, stack }] of run.agents) {
    const places = [cwd, ...stack.map((frame) => frame.cwd)];
    if (other !== id && places.some((place) => isIn(tree.path, place))) return 'kept';
  }
  return 'removing';
}

function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
