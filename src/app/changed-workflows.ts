/** Workflows whose files have changed since a run read them. Raymond uses them only after a yes. */
import { withinReachOf } from '../graph/within-reach.ts';
import type { Door } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { changedFiles } from '../model/workflow-files.ts';
import { isStateFile } from '../parse/state.ts';
import type { WorkflowLibrary } from '../ports.ts';
import type { ResumeOptions } from './resume.ts';

/** The refs of the workflows whose changes a person accepts. Throws a UserError if no person does. */
export async function acceptedChanges(
  run: Run,
  library: WorkflowLibrary,
  { acceptChanges, all }: Pick<ResumeOptions, 'acceptChanges' | 'all'>,
  door: Door,
): Promise<readonly string[]> {
  const changes = [...run.workflowFiles].flatMap(([workflow, read]) => {
    const now = library.get(workflow);
    const isUsed = now ? usedNames(now, run) : () => true;
    const names = changedFiles(read, now?.files ?? {}).filter(isUsed);
    return names.length > 0 ? [{ workflow, names }] : [];
  });
  if (changes.length === 0) return [];
  const changed = changes.map(({ workflow, names }) => `${workflow}: ${names.join(', ')}`);
  const facts = [
    'These files have changed since the run read them:',
    ...changed.map((line) => `  ${line}`),
  ];
  // With many runs, Raymond does not ask.
  const asks = async () => !all && (await door.agree({ kind: 'changed-workflow', facts }));
  if (!acceptChanges && !(await asks())) throw refusal(run.id, changed);
  return changes.map(({ workflow }) => workflow);
}

/**
 * Whether the run can still use a file. States that it cannot reach may be files of its agents. If it reaches
 * one after all, it is compared before it is used.
 */
function usedNames(workflow: Workflow, run: Run): (name: string) => boolean {
  const places = [...run.agents].flatMap(([, { workflow, state, stack }]) => [
    { workflow, state },
    ...stack,
  ]);
  const here = places.flatMap((place) => (place.workflow === workflow.ref ? [place.state] : []));
  const reached = new Set<string>(withinReachOf(workflow, here));
  return (name) => !isStateFile(name) || reached.has(name);
}

function refusal(run: string, changed: readonly string[]): UserError {
  return new UserError(
    'changed-workflow',
    `Workflow files have changed since ${run} read them. ${changed.join('; ')}.`,
    `Check them, then run: raymond resume ${run} --accept-changes`,
  );
}
