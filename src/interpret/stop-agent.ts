import type { RunEventOf } from '../model/event.ts';
import type { Agent, Run } from '../model/run.ts';
import { worktreeFate } from './worktree-fate.ts';

/** A stopped child never continues, so a worktree without work has no further use. */
export function stopAgent(
  run: Run,
  agent: Agent,
  by: string,
  at: number,
): RunEventOf<'agent-stopped'> {
  const worktree = agent.status.kind === 'failed' ? undefined : worktreeFate(run, agent);
  return { type: 'agent-stopped', at, agent: agent.id, by, ...(worktree && { worktree }) };
}
