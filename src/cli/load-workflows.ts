import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { WorkflowLibrary } from '../ports.ts';
import { loadNamed } from './load-named.ts';

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
