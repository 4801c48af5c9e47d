import type { Agent } from '../model/run.ts';
import type { Tag, TagReading } from '../model/tag.ts';
import type { Fork } from '../model/transition.ts';
import { pathsIn, TAG_RULES } from '../parse/transition.ts';
import { MOST_FORKS } from './ceilings.ts';
import { filesKey, type Workflows } from './follow.ts';
import { worktreeKey } from './fork-worktree.ts';

/**
 * The facts that Raymond must look up before it can interpret the end of a step, by path as
 * written.
 */
export interface Needs {
  readonly directories: ReadonlySet<string>;
  readonly workflows: ReadonlySet<string>;
  /** By `worktreeKey`. */
  readonly worktrees: ReadonlyMap<string, Pick<Fork, 'cd' | 'base'>>;
  /** By `filesKey`. Content is stored, so an entry of the policy alone needs none. */
  readonly files: ReadonlyMap<string, readonly string[]>;
}

/**
 * Looks at every tag that may be followed: written, implied by the policy, set by an evaluator, or
 * held by a judge or a check.
 */
export function needs(workflows: Workflows, agent: Agent, reading: TagReading): Needs {
  const directories = new Set<string>();
  const paths = new Set<string>();
  const worktrees = new Map<string, Pick<Fork, 'cd' | 'base'>>();
  const files = new Map<string, readonly string[]>();
  const look = (
    tag: Pick<Tag, 'attributes'> & { name: Tag['name']; body?: string | undefined },
    isWritten = true,
  ) => {
    const { cd, base, worktree } = tag.attributes;
    if (tag.name === 'ask' && isWritten && tag.attributes.files !== undefined) {
      const paths = pathsIn(tag.attributes.files);
      files.set(filesKey(paths), paths);
    }
    if (cd !== undefined) directories.add(cd);
    if (worktree !== undefined && TAG_RULES[tag.name].variables) {
      const fork = { ...(cd !== undefined && { cd }), ...(base !== undefined && { base }) };
      worktrees.set(worktreeKey(fork), fork);
    }
    if (TAG_RULES[tag.name].body === 'path' && tag.body !== undefined) paths.add(tag.body.trim());
  };

  // An answer with more tags is refused in any case.
  if (reading.tags.length <= MOST_FORKS + 1) for (const tag of reading.tags) look(tag);
  const { status } = agent;
  if (status.kind === 'running' && 'tags' in status.task)
    for (const tag of status.task.tags) look(tag);
  const state = workflows(agent.workflow)?.states.get(agent.state);
  if (state?.kind === 'prompt') {
    for (const entry of state.policy.allowed ?? []) look({ ...entry, name: entry.tag }, false);
    for (const evaluator of state.policy.evaluators) look(evaluator.transition);
    for (const { otherwise } of state.policy.ensures) if (otherwise) look(otherwise);
  }
  return { directories, workflows: paths, worktrees, files };
}
