import type { StateShape } from '../look/state-shape.ts';
import { stepRows } from '../look/step-list.ts';
import { bounded } from '../model/bounded-text.ts';
import { UserError } from '../model/user-error.ts';
import type { FollowedRun } from './followed-run.ts';
import type { LoadWorkflow } from './graphs.ts';
import { notFound } from './problems.ts';

/** Only of workflows that the run has entered: a request must not read other files. */
export async function stateOf(
  { run, history, steps }: FollowedRun,
  load: LoadWorkflow,
  { state = '', workflow = run.workflow }: { readonly state?: string; readonly workflow?: string },
): Promise<StateShape> {
  const isKnown =
    workflow === run.workflow || history.states.some((one) => one.workflow === workflow);
  if (!isKnown) throw notFound('The run has not entered this workflow.', 'Omit it.');
  const own = steps.all.filter((one) => one.started.state === state && one.workflow === workflow);
  const loaded = await load(workflow, run).catch((error: unknown) => {
    if (error instanceof UserError) return undefined;
    throw error;
  });
  const found = [...(loaded?.states.values() ?? [])].find(({ name }) => name === state);
  const text =
    found?.kind === 'prompt' ? found.template : found?.kind === 'script' ? found.text : undefined;
  return {
    workflow,
    state,
    source: text === undefined ? null : bounded(text, MOST_SOURCE),
    steps: stepRows(own.slice(-MOST_STEPS), history).toReversed(),
    total: own.length,
  };
}

const [MOST_SOURCE, MOST_STEPS] = [50_000, 100];
