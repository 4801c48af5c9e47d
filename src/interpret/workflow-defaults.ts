/** The defaults of a workflow, for a user or a caller who says nothing. */
import type { About, Workflow } from '../model/workflow.ts';
import { newRun } from './new-run.ts';

/** The budget of a run if the user sets none. A workflow may lower the default, and never raise it. */
export function defaultBudgetUsd({ defaultBudgetUsd: asked }: About): number {
  const { budgetUsd: usual } = newRun.settings;
  return asked === undefined ? usual : Math.min(asked, usual);
}

type EntryInput =
  | { readonly ok: true; readonly input?: string }
  /** Part of a sentence. */
  | { readonly ok: false; readonly problem: string };

/** The input of the first state: the given one, or else the workflow's default. */
export function entryInput(
  { name, about }: Pick<Workflow, 'name' | 'about'>,
  given: string | undefined,
): EntryInput {
  const input = given ?? about.input?.default;
  if (input !== undefined) return { ok: true, input };
  if (!about.input?.required) return { ok: true };
  const { label } = about.input;
  const what = label === undefined ? '' : `: ${label}`;
  return { ok: false, problem: `the workflow ${name} needs an input${what}` };
}
