import type { RunEvent } from '../model/event.ts';
import { ignore } from '../model/event-kinds.ts';
import type { Run } from '../model/run.ts';
import type { Workflows } from './follow.ts';

/**
 * Before an event by which an agent first enters a workflow, or works in it, inserts an event with
 * the files of that workflow. Later executions can be compared with these files.
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

/** The event that records the current files of a workflow; none if it has no files. */
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
      return ignore<
        'answer-signed' | 'words-said' | 'words-heard' | 'handover-called' | 'prompt-filled'
      >(event);
  }
}
