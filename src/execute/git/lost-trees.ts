import type { Run } from '../../model/run.ts';
import { treeOnDisk } from './tree-on-disk.ts';

/** Sentences about the worktrees of a run that somebody has deleted or replaced, with what they held. */
export async function lostTrees({ agents, endedAgents }: Run): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const [id, { worktree }] of [...agents, ...endedAgents]) {
    if (!worktree?.tree || !worktree.wasSeen) continue;
    const { tree, look, branch } = worktree;
    const isOver = 'fate' in worktree && worktree.fate !== 'kept';
    const found = isOver || look?.missing ? undefined : await treeOnDisk(tree.path);
    if (found?.kind === 'strange')
      lines.push(`In place of the worktree ${tree.path} of ${id} is something else: ${found.why}.`);
    else if (look?.missing || found?.kind === 'missing')
      lines.push(
        `The worktree ${tree.path} of ${id} no longer exists. What was not committed in it is lost. Its commits are on the branch ${branch}.`,
      );
  }
  return lines;
}
