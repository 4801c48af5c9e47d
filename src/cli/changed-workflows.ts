/** Workflows whose files have changed since a run read them. Raymond uses them only after a yes. */
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import { changedFiles } from '../model/workflow-files.ts';
import type { WorkflowLibrary } from '../ports.ts';
import { canConfirm, confirm } from './confirm.ts';
import { stderr } from './terminal.ts';

export interface Acceptance {
  readonly acceptChanges?: boolean;
  /** With many runs, Raymond does not ask. */
  readonly all?: boolean;
  readonly json?: boolean;
}

/** The refs of the workflows whose changes a person accepts. Throws a UserError if no person does. */
export async function acceptedChanges(
  run: Run,
  library: WorkflowLibrary,
  { acceptChanges, all, json }: Acceptance,
): Promise<readonly string[]> {
  const changes = [...run.workflowFiles].flatMap(([workflow, read]) => {
    const names = changedFiles(read, library.get(workflow)?.files ?? {});
    return names.length > 0 ? [{ workflow, names }] : [];
  });
  if (changes.length === 0) return [];
  const facts = changes.map(({ workflow, names }) => `${workflow}: ${names.join(', ')}`);
  const mayAsk = !all && !json && canConfirm();
  if (!acceptChanges && !(mayAsk && (await isAccepted(facts)))) throw refusal(run.id, facts);
  return changes.map(({ workflow }) => workflow);
}

async function isAccepted(facts: readonly string[]): Promise<boolean> {
  stderr.say('These files have changed since the run read them:', ...facts.map(indented));
  return confirm('Continue with the changed files?');
}

const indented = (line: string) => `  ${line}`;

function refusal(run: string, facts: readonly string[]): UserError {
  return new UserError(
    'changed-workflow',
    `Workflow files have changed since ${run} read them. ${facts.join('; ')}.`,
    `Check them, then run: raymond resume ${run} --accept-changes`,
  );
}
