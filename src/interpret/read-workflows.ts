import type { RunEvent } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import type { Run } from '../model/run.ts';
import type { Workflows } from './follow.ts';

/**
 * Puts in front of every event by which an agent first enters a workflow, or works in it, from which
 * files that workflow was read. What is executed later can then be compared with them.
 */
export function withReadWorkflows(
  workflows: Workflows,
  run: Run,
  events: readonly RunEvent[],
): readonly RunEvent[] {
  const added = new Set<string>();
  return events.flatMap((event) => {
    const ref = workflowOf(run, event);
    if (ref === undefined || added.has(ref) || run.workflowFiles.has(ref)) return [event];
    added.add(ref);
    return [...readWorkflow(workflows, ref, event.at), event];
  });
}

/** The event by which a run keeps the files of a workflow as they are now; none if it has no files. */
export function readWorkflow(
  workflows: Workflows,
  workflow: string,
  at: number,
): readonly RunEvent[] {
  const files = workflows(workflow)?.files;
  return files ? [{ type: 'workflow-read', at, workflow, files }] : [];
}

function workflowOf(run: Run, event: RunEvent): string | undefined {
  switch (event.type) {
    case 'agent-moved':
    case 'agent-forked':
      return event.workflow;
    case 'step-started':
      return run.agents.get(event.agent)?.workflow;
    default:
      return ignore(event);
  }
}
