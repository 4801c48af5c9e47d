/** Faults that depend on the agents that take the prompts. */
import { statesHere, type Way, waysOf } from '../graph/ways.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { StateName } from '../model/state-name.ts';
import type { State, Workflow } from '../model/workflow.ts';
import { agentNamed, agentsOf } from '../parse/chosen-agent.ts';
import { fault } from './codes.ts';
import { allWays, type Lint } from './rule.ts';

/**
 * Calls that need to branch a session of an agent that cannot branch. Raymond also refuses them when a
 * run starts.
 */
export function cannotBranch(workflow: Workflow): readonly Diagnostic[] {
  if (workflow.agents.all.every(({ can }) => can.branch)) return [];
  return statesHere(workflow).flatMap((state) =>
    waysOf(workflow, state).flatMap((way) => callFault(workflow, state, way)),
  );
}

function callFault(workflow: Workflow, state: State, way: Way): readonly Diagnostic[] {
  const target = way.tag === 'call' ? targetOf(way) : undefined;
  const callees = target ? takersOf(workflow, target) : [];
  const callers = state.kind === 'prompt' ? agentsOf(workflow, state) : callees;
  const callee = callees.find(
    (name) => callers.includes(name) && agentNamed(workflow.agents, name)?.can.branch === false,
  );
  if (callee === undefined) return [];
  return [
    fault(
      'cannot-branch',
      state.kind === 'broken' ? state.name : state.place.file,
      way,
      `The agent ${callee} of ${target} cannot branch a session, so it cannot be called.`,
      { remedy: 'Use function instead of call, and pass what the callee needs as input.' },
    ),
  ];
}

/** Prompts of an agent that reports no cost. A run with a budget does not start with them. */
export function unknownCosts({ workflow }: Lint): readonly Diagnostic[] {
  const unpriced = new Set(
    workflow.agents.all.flatMap(({ name, can }) => (can.cost === 'none' ? [name] : [])),
  );
  if (unpriced.size === 0) return [];
  return statesHere(workflow).flatMap((state) => {
    const agent = takersOf(workflow, state.name).find((name) => unpriced.has(name));
    if (state.kind !== 'prompt' || agent === undefined) return [];
    return [
      fault(
        'unknown-cost',
        state.place.file,
        state.place,
        `The agent ${agent} reports no cost that Raymond knows, so no budget can limit it.`,
        { remedy: 'Add prices for it to your config file, or run the workflow with --budget 0.' },
      ),
    ];
  });
}

/** Tags that would continue or branch a session in a state of another agent. */
export function otherAgents(lint: Lint): readonly Diagnostic[] {
  const { workflow } = lint;
  return allWays(lint).flatMap(({ state, way }) => {
    const takers = takersOf(workflow, state);
    return way.references.flatMap((reference) => {
      const isKept = reference.part !== 'target' || KEEPING.includes(way.tag);
      const others = reference.kind === 'state' ? takersOf(workflow, reference.state) : [];
      const [to] = others;
      const from = takers.find((name) => !others.includes(name));
      if (!isKept || to === undefined || from === undefined) return [];
      const message = `${reference.written} belongs to the agent ${to}, which does not know the session of ${from}. It begins a new session.`;
      return [fault('other-agent', state, way, message, { remedy: REMEDY })];
    });
  });
}

/** The tags whose target continues or branches the session. The other parts always continue it. */
const KEEPING: readonly string[] = ['goto', 'call', 'join'];

const REMEDY =
  'Use reset or function to show that the memory is lost, and pass what the state needs as input.';

function targetOf({ references }: Way): StateName | undefined {
  const target = references.find(({ part }) => part === 'target');
  return target?.kind === 'state' ? target.state : undefined;
}

/** The agents that may take the prompt of a state; none for a script. */
function takersOf(workflow: Workflow, name: StateName): readonly string[] {
  const state = workflow.states.get(name);
  return state?.kind === 'prompt' ? agentsOf(workflow, state) : [];
}
