import { apply, newRun } from '../interpret/apply.ts';
import type { RunEvent } from '../model/event.ts';
import type { StateName } from '../model/state-name.ts';
import type { Workflow } from '../model/workflow.ts';
import { EXTENSIONS, extensionOf } from '../parse/state.ts';

export interface Coverage {
  readonly states: number;
  readonly neverExecuted: readonly StateName[];
}

/** Which states of a workflow no run has executed. */
export function coverageOf(workflow: Workflow, runs: readonly (readonly RunEvent[])[]): Coverage {
  const executed = new Set(runs.flatMap((events) => [...executedIn(events, workflow.ref)]));
  const states = [...workflow.states.keys()].filter((state) =>
    EXTENSIONS[workflow.platform].some((extension) => extension === extensionOf(state)),
  );
  return { states: states.length, neverExecuted: states.filter((state) => !executed.has(state)) };
}

function executedIn(events: readonly RunEvent[], workflow: string): ReadonlySet<StateName> {
  const executed = new Set<StateName>();
  let run = newRun;
  for (const event of events) {
    run = apply(run, event);
    if (event.type === 'step-started' && run.agents.get(event.agent)?.workflow === workflow)
      executed.add(event.state);
  }
  return executed;
}
