import type { Run } from '../../model/run.ts';
import { keptTrees } from '../../model/run-summary.ts';
import { treeOnDisk } from './tree-on-disk.ts';

/** Sentences about the worktrees of a run that somebody has deleted or replaced, with what they held. */
export async function lostTrees(run: Run): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { agent, tree, branch, isMissing } of keptTrees(run)) {
    const found = isMissing ? ({ kind: 'missing' } as const) : await treeOnDisk(tree.path);
    if (found.kind === 'strange')
      lines.push(
        `In place of the worktree ${tree.path} of ${agent} is something else: ${found.why}.`,
      );
    else if (found.kind === 'missing')
      lines.push(
        `The worktree ${tree.path} of ${agent} no longer exists. What was not committed in it is lost. Its commits are on the branch ${branch}.`,
      );
  }
  return lines;
}

/** How many of these worktrees somebody has deleted or replaced. */
export async function countLost(paths: readonly string[]): Promise<number> {
  const found = await Promise.all(paths.map(treeOnDisk));
  return found.filter(({ kind }) => kind === 'strange' || kind === 'missing').length;
}
