import type { Reached } from '../execute/agents/protected-files.ts';
import { withinReachOf } from '../graph/within-reach.ts';
import type { StateName } from '../model/state-name.ts';
import type { Place, WorkflowLibrary } from '../ports.ts';

/** The files of the states that can be reached from these places, each workflow from its entry as well. */
export function reachedFiles(
  library: Pick<WorkflowLibrary, 'get' | 'filesOf'>,
): (places: readonly Place[]) => Reached {
  const known = new Map<string, Reached>();
  const reach = (ref: string, from: readonly StateName[]): Reached => {
    const workflow = library.get(ref);
    if (!workflow) return { files: [], text: '' };
    const states = withinReachOf(workflow, from);
    const prompts = states.flatMap((name) => {
      const state = workflow.states.get(name);
      return state?.kind === 'prompt' ? [state.template] : [];
    });
    return { files: library.filesOf(ref, new Set(states)), text: prompts.join('\n') };
  };
  return (places) => {
    const parts = [...statesByWorkflow(places)].map(([ref, states]) => {
      const key = JSON.stringify([ref, ...states]);
      const found = known.get(key) ?? reach(ref, [...states]);
      known.set(key, found);
      return found;
    });
    return {
      files: parts.flatMap(({ files }) => files),
      text: parts.map(({ text }) => text).join('\n'),
    };
  };
}

function statesByWorkflow(places: readonly Place[]): ReadonlyMap<string, ReadonlySet<StateName>> {
  const all = new Map<string, Set<StateName>>();
  for (const { workflow, state } of places) {
    const states = all.get(workflow) ?? new Set();
    if (state !== undefined) states.add(state);
    all.set(workflow, states);
  }
  return all;
}
