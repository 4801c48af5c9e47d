import { graphOf } from '../graph/graph.ts';
import { fittedTo, overlayOf, timesTaken } from '../graph/overlay.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import type { StateName } from '../model/state-name.ts';
import type { Workflow } from '../model/workflow.ts';
import { EXTENSIONS, extensionOf } from '../parse/state.ts';

export interface Coverage {
  readonly states: number;
  readonly neverExecuted: readonly StateName[];
  readonly transitions: number;
  /** For example `START -> goto REVIEW`. */
  readonly neverTaken: readonly string[];
}

/** The states of a workflow that no run has executed, and the transitions that no run has taken. */
export function coverageOf(workflow: Workflow, runs: readonly (readonly RunEvent[])[]): Coverage {
  const executed = new Set(runs.flatMap((events) => [...executedIn(events, workflow.ref)]));
  const states = [...workflow.states.keys()].filter((state) =>
    EXTENSIONS[workflow.platform].some((extension) => extension === extensionOf(state)),
  );
  const graph = graphOf(workflow);
  const overlays = runs.map((events) => fittedTo(graph, overlayOf(events)));
  const label = new Map(graph.nodes.map((node) => [node.id, node.label]));
  const edges = graph.edges.filter(({ tag, to }) => tag !== undefined && to !== 'unknown');
  const untaken = edges.filter((edge) => overlays.every((overlay) => !timesTaken(overlay, edge)));
  return {
    states: states.length,
    neverExecuted: states.filter((state) => !executed.has(state)),
    transitions: edges.length,
    neverTaken: untaken.map(
      ({ from, to, label: way }) => `${label.get(from)} -> ${way} ${label.get(to)}`,
    ),
  };
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
