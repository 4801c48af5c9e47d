import {
  add as addWorkflow,
  LOCK_FILE,
  type UpdatedWorkflow,
  update as updateWorkflows,
} from '../../app/shared-workflows.ts';
import { shellWord } from '../../model/shell-word.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { Here } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { terminalDoor } from '../terminal/terminal-door.ts';

/** Adds a workflow that others share. Returns 1 if the person does not agree. */
export async function add(
  here: Here,
  source: string,
  folder: string | undefined,
  { yes }: { readonly yes?: boolean },
): Promise<number> {
  const added = await addWorkflow(await here(), { source, folder, agreed: yes }, terminalDoor());
  if (!added) {
    stderr.say('Nothing was written.');
    return 1;
  }
  const path = shellWord(added.folder);
  stdout.say(`Wrote ${added.folder}, and its digest to ${LOCK_FILE}: sha256 ${added.sha256}`);
  stderr.offer(`Read its files. Then try it: raymond ${path} --rehearse`);
  return 0;
}

export interface UpdateOptions {
  readonly yes?: boolean;
  readonly force?: boolean;
  readonly check?: boolean;
  readonly json?: boolean;
}

/** Updates added workflows. Returns 1 if one of them is not as its source has it. */
export async function update(
  here: Here,
  folders: readonly string[],
  { yes, force, check, json }: UpdateOptions,
): Promise<number> {
  const request = { folders, agreed: yes, force, check };
  let [count, others] = [0, 0];
  for await (const one of updateWorkflows(await here(), request, terminalDoor({ json }))) {
    count += 1;
    if (one.outcome !== 'current' && one.outcome !== 'updated') others += 1;
    if (json) stdout.json(one);
    else stdout.say(`${one.folder}: ${wordsFor(one)}`);
  }
  if (count === 0 && !json)
    stderr.say(`There is nothing to update: ${LOCK_FILE} names no workflow.`);
  return others > 0 ? 1 : 0;
}

function wordsFor({ outcome, folder }: UpdatedWorkflow): string {
  const path = shellWord(folder);
  switch (outcome) {
    case 'current':
      return 'current';
    case 'updated':
      return 'updated';
    case 'newer':
      return `differs from its source. To update it: raymond update ${path}`;
    case 'missing':
      return `is missing. To fetch it again: raymond update ${path}`;
    case 'declined':
      return 'kept as it was';
    case 'changed-here':
      return `kept, because its files were changed here. Save your changes, then run: raymond update ${path} --force`;
    default:
      return unreachable(outcome);
  }
}
