/** The worktree of an agent as readable JSON, for the state file. */
import * as z from 'zod/mini';
import { type AgentWorktree, type EndedWorktree, worktreeLookSchema } from '../model/worktree.ts';

export const worktreeSchema = z.object({
  branch: z.string(),
  /** Null in a rehearsal, which makes no worktrees. */
  path: z.nullable(z.string()),
  base: z.nullable(z.string()),
  repository: z.nullable(z.string()),
  /** At the end of the newest step. */
  look: z.nullable(worktreeLookSchema),
  was_seen: z.boolean(),
});

export const endedWorktreeSchema = z.extend(worktreeSchema, {
  fate: z.enum(['removing', 'removed', 'kept']),
});

type Frozen = z.infer<typeof worktreeSchema>;

export function freezeWorktree({ branch, tree, look, wasSeen }: AgentWorktree): Frozen {
  const { path = null, base = null, repository = null } = tree ?? {};
  return { branch, path, base, repository, look: look ?? null, was_seen: wasSeen };
}

export function thawWorktree(frozen: Frozen): AgentWorktree {
  const { branch, path, base, repository, look, was_seen: wasSeen } = frozen;
  const isMade = path !== null && base !== null && repository !== null;
  const tree = isMade ? { tree: { path, base, repository } } : {};
  return { branch, ...tree, look: look ?? undefined, wasSeen };
}

export function freezeEndedWorktree(worktree: EndedWorktree): z.infer<typeof endedWorktreeSchema> {
  return { ...freezeWorktree(worktree), fate: worktree.fate };
}

export function thawEndedWorktree(frozen: z.infer<typeof endedWorktreeSchema>): EndedWorktree {
  return { ...thawWorktree(frozen), fate: frozen.fate };
}
