import * as z from 'zod/mini';

/** The worktree of a child, as decided when the child is forked. */
export const worktreeSchema = z.object({
  branch: z.string(),
  /** Absent in rehearsals and workflow tests, which create no worktrees. */
  tree: z.optional(
    z.object({
      path: z.string(),
      /** The commit from which the branch starts. */
      base: z.string(),
      /** The folder of git for the tree in which the parent worked. */
      repository: z.string(),
    }),
  ),
});

/** The content of a worktree at one moment. */
export const worktreeLookSchema = z.object({
  /** The branch to merge, or a commit if the tree is on no branch. */
  branch: z.string(),
  /** The number of commits that the base does not have. */
  commits: z.int().check(z.nonnegative()),
  /** Whether it has uncommitted changes. */
  dirty: z.boolean(),
  /** The tree does not exist. The rest is about its branch. */
  missing: z.optional(z.literal(true)),
});

export type Worktree = z.infer<typeof worktreeSchema>;
export type Tree = NonNullable<Worktree['tree']>;
export type WorktreeLook = z.infer<typeof worktreeLookSchema>;

export interface AgentWorktree extends Worktree {
  /** As of the end of the newest step; undefined before that, or if it could not be inspected. */
  readonly look: WorktreeLook | undefined;
  /** Whether the tree has existed; if so, it is not created again. */
  readonly wasSeen: boolean;
}

export interface EndedWorktree extends AgentWorktree {
  readonly fate: 'removing' | 'removed' | 'kept';
}

/** Branches whose names differ only in case cannot exist together on every file system. */
export function sameOnDisk(branch: string): string {
  return branch.normalize('NFC').toLowerCase();
}
