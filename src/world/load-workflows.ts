import { namedWorkflows } from '../graph/named-workflows.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { WorkflowLibrary } from '../ports.ts';

/**
 * Loads every workflow that the run has read, because the run may enter it again. A missing workflow
 * fails only the agents that are in it or return to it.
 */
export async function loadWorkflows(
  library: Pick<WorkflowLibrary, 'load' | 'get'>,
  run: Run,
  report: (error: UserError) => void,
): Promise<void> {
  const needed = new Set([run.workflow]);
  for (const [, agent] of run.agents) {
    needed.add(agent.workflow);
    for (const frame of agent.stack) needed.add(frame.workflow);
  }
  for (const ref of new Set([...needed, ...[...run.workflowFiles].map(([read]) => read)])) {
    await library.load(ref).catch((error) => {
      if (!(error instanceof UserError)) throw error;
      if (needed.has(ref)) report(error);
    });
    await loadNamed(library, ref);
  }
}

/**
 * Loads every workflow that a workflow names, directly or through others, and returns all refs. A run
 * loads them before its first step, so later changes by its agents do not affect it.
 */
export async function loadNamed(
  library: Pick<WorkflowLibrary, 'load' | 'get'>,
  ref: string,
): Promise<readonly string[]> {
  const seen = new Set([ref]);
  for (const from of seen) {
    const workflow = library.get(from);
    for (const path of workflow ? namedWorkflows(workflow) : []) {
      if (seen.size >= MOST) return [...seen];
      // A workflow that cannot be read now may exist when an agent enters it. Otherwise the step fails then.
      const named = await library.load(path, from).catch((error: unknown) => {
        if (!(error instanceof UserError)) throw error;
      });
      if (named) seen.add(named.ref);
    }
  }
  return [...seen];
}

const MOST = 100;
