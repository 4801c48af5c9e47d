/** The files of a variant, on its branch. */

import { changedSince, commitWorktree, mergeableBranch } from '../execute/git/variant-files.ts';
import { FIRST_AGENT } from '../interpret/new-run.ts';
import { messageOf } from '../model/message-of.ts';
import type { Run } from '../model/run.ts';
import type { ChangedLines } from '../model/variant.ts';
import type { Surroundings } from './surroundings.ts';
import { filesOf } from './wire.ts';

/**
 * Commits the files of a variant, or of a run of an eval, on its branch, so that an ordinary merge adopts them.
 * Only for a run on which nothing works. Trouble is reported, and ends nothing.
 */
export async function commitVariant(
  around: Pick<Surroundings, 'workspace' | 'report'>,
  run: Run,
): Promise<void> {
  const { id, origin } = run;
  const found = treeOf(run);
  if (!found) return;
  const message = origin
    ? `Files of ${id}, a variant of ${origin.run} from before ${origin.agent}:${origin.step}`
    : `Files of ${id}, a run of an eval`;
  await commitWorktree(filesOf(around, id), found.tree.path, found.branch, message).catch((error) =>
    around.report(`The files of ${id} cannot be committed: ${messageOf(error)}`),
  );
}

export interface VariantFiles {
  /** Undefined if they cannot be compared. */
  readonly lines: ChangedLines | undefined;
  /** The worktree, if it exists. */
  readonly worktree: string | undefined;
  /** The branch, if it has a commit of the variant. */
  readonly branch: string | undefined;
}

export async function variantFiles(
  around: Pick<Surroundings, 'workspace'>,
  run: Run,
): Promise<VariantFiles | undefined> {
  const found = treeOf(run);
  if (!found) return undefined;
  const { tree, branch } = found;
  const changed = changedSince(tree, branch, filesOf(around, run.id));
  return {
    ...(await changed.catch(() => ({ lines: undefined, worktree: undefined }))),
    branch: await mergeableBranch(tree, branch),
  };
}

/** A score leaves its files as they are: nobody merges them. */
function treeOf({ origin, cell, agents, endedAgents }: Run) {
  if (!origin && (!cell || cell.scores)) return undefined;
  const id = origin?.agent ?? FIRST_AGENT;
  const { tree, branch = '' } = (agents.get(id) ?? endedAgents.get(id))?.worktree ?? {};
  return tree && { tree, branch };
}
