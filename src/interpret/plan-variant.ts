/**
 * Plans a variant of a run: the agents as they were before a step, in a form in which another run can
 * begin with them. No session of the run is continued: each is branched at its last message before the
 * step. Nothing of the run changes.
 */
import type { AgentState, EndedAgentState } from '../model/agent-state.ts';
import type { Beginning, Session, Task } from '../model/event.ts';
import type { Agent, Run } from '../model/run.ts';
import type { Worktree } from '../model/worktree.ts';
import { filesAt, stepsByPlace } from './files-at.ts';
import type { Moment, Past } from './past.ts';
import { type Restoring, restoredAgent, restoredEnd } from './restored-agent.ts';
import { placeOf, type RootOf } from './rewind-members.ts';

export interface VariantPlan {
  /** With the directories of the run. */
  readonly beginning: Beginning;
  /** The agent at the step. */
  readonly agent: AgentState;
  /** The run at the moment. */
  readonly then: Run;
  /** When the step began. */
  readonly at: number;
  /** The working trees in which the agents of the beginning work. */
  readonly places: readonly VariantPlace[];
}

export interface VariantPlace {
  /** The root of the working tree, or a directory that is in none. */
  readonly root: string;
  readonly isTree: boolean;
  /** The agent that gets the worktree of the variant for it. */
  readonly agent: string;
  /** The stored files at the moment; undefined if they are not known. */
  readonly tree: string | undefined;
  /** Present if the root is itself the worktree of an agent. It may have been removed. */
  readonly worktree: Worktree | undefined;
}

export type PlannedVariant =
  | { readonly ok: true; readonly plan: VariantPlan }
  | { readonly ok: false; readonly problem: VariantProblem };

export type VariantProblem =
  | { readonly kind: 'running' | 'no-agent' | 'no-step' | 'no-checkpoint' | 'several-places' }
  /** The step repeats this one, and the conversation has the prompt already. */
  | { readonly kind: 'repeats'; readonly step: number }
  /** Steps of other agents ran at the moment. */
  | { readonly kind: 'others'; readonly agents: readonly string[] };

interface VariantFacts {
  readonly agent: string;
  readonly step: number;
  /** Only the agent at the step goes on. */
  readonly alone: boolean;
  readonly at: number;
  readonly rootOf: RootOf;
}

/** `past` has followed all events, for the step. */
export function planVariant(past: Past, now: Run, facts: VariantFacts): PlannedVariant {
  const { agent: id, alone, rootOf } = facts;
  if (now.tally.promptsRunning + now.tally.scriptsRunning > 0) return refused('running');
  const { moment } = past;
  const target = moment?.run.agents.get(id);
  if (!moment || !target)
    return refused(now.agents.has(id) || now.endedAgents.has(id) ? 'no-step' : 'no-agent');
  if (target.previousTry !== undefined)
    return { ok: false, problem: { kind: 'repeats', step: target.previousTry } };
  const others = alone ? [] : [...moment.beforeStep.keys()].filter((other) => other !== id);
  if (others.length > 0) return { ok: false, problem: { kind: 'others', agents: others } };

  const { run: then } = moment;
  const live = alone ? [target] : [...then.agents].map(([, agent]) => agent);
  const restoring: Restoring = { past, moment, at: facts.at, uncut: [] };
  const agents = live.map((agent) => beginningOf(restoring, agent, alone));
  if (restoring.uncut.length > 0) return refused('no-checkpoint');
  const places = placesOf(past, moment, now, live, id, rootOf);
  const agent = agents.find((one) => one.id === id);
  if (!places || !agent) return refused('several-places');
  return {
    ok: true,
    plan: {
      beginning: {
        agents,
        ended: [...then.endedAgents].map(([ended, end]) => withoutTree(restoredEnd(ended, end))),
        forkCounters: Object.fromEntries(then.forkCounters),
        ...(then.result !== undefined && { result: then.result }),
        ...(then.notes.size > 0 && { notes: Object.fromEntries(then.notes) }),
      },
      ...{ agent, then, at: moment.at, places },
    },
  };
}

const refused = (kind: Exclude<VariantProblem['kind'], 'repeats' | 'others'>): PlannedVariant => ({
  ok: false,
  problem: { kind },
});

function beginningOf(restoring: Restoring, agent: Agent, alone: boolean): AgentState {
  const {
    worktree: _,
    previousTry: _try,
    ...state
  } = restoredAgent(restoring, agent, restoring.moment.seq, false);
  const { session, stack, status, parent, workers, ...others } = state;
  const branch = (one: Session) => branchOf(one, restoring.moment);
  return {
    ...others,
    ...(parent !== undefined && !alone && { parent }),
    workers: alone ? [] : workers,
    session: branch(session),
    stack: stack.map((frame) => ({ ...frame, session: branch(frame.session) })),
    status: 'task' in status ? { ...status, task: withoutReminder(status.task) } : status,
  };
}

/** The session of the run may be continued later, so the branch names a message if one is known. */
function branchOf(session: Session, { checkpoints }: Moment): Session {
  if (session.kind === 'none') return session;
  const { kind, ...rest } = session;
  const from = session.kind === 'open' ? session.id : session.from;
  const known = checkpoints.get(from);
  const at = session.kind === 'branch' ? (session.at ?? known) : known;
  const { executor, lane, tokens } = rest;
  return {
    kind: 'branch',
    from,
    ...(at !== undefined && { at }),
    ...(executor !== undefined && { executor }),
    ...(lane !== undefined && { lane }),
    ...(tokens !== undefined && { tokens }),
  };
}

/** A reminded judge would continue a session of the run. */
function withoutReminder(task: Task): Task {
  if (task.kind !== 'judge' && task.kind !== 'fill') return task;
  const { reminder: _, ...fresh } = task;
  return fresh;
}

function withoutTree({ worktree: _, ...ended }: EndedAgentState): EndedAgentState {
  return ended;
}

/** Undefined if an agent works in several places: it can have one worktree. */
function placesOf(
  past: Past,
  { seq, run: then }: Moment,
  now: Run,
  live: readonly Agent[],
  target: string,
  rootOf: RootOf,
): readonly VariantPlace[] | undefined {
  const worktreeOf = (id: string) =>
    (now.agents.get(id) ?? now.endedAgents.get(id) ?? then.agents.get(id))?.worktree;
  const steps = stepsByPlace(past, ({ agent, cwd }) =>
    placeOf(cwd, agent === undefined ? undefined : worktreeOf(agent), rootOf),
  );
  const owners = new Map<string, string>();
  // The agent at the step comes first, so that its worktree has its name.
  const inOrder = live.toSorted((a, b) => Number(b.id === target) - Number(a.id === target));
  for (const { id, cwd, stack } of inOrder)
    for (const directory of [cwd, ...stack.map((frame) => frame.cwd)]) {
      const root = placeOf(directory, worktreeOf(id), rootOf);
      if (!owners.has(root)) owners.set(root, id);
    }
  if (new Set(owners.values()).size < owners.size) return undefined;
  return [...owners].map(([root, agent]) => {
    const own = live.map(({ id }) => worktreeOf(id)).find((one) => one?.tree?.path === root);
    return {
      ...{ root, agent, worktree: own },
      isTree: own !== undefined || rootOf(root) !== undefined,
      tree: filesAt({ seq, steps: steps.get(root) ?? [] }),
    };
  });
}

/** The beginning with other directories and worktrees. `moved` gives the new place of a root. */
export function movedTo(
  { agents, ...others }: Beginning,
  places: readonly (VariantPlace & { readonly worktreeOfVariant: Worktree })[],
): Beginning {
  // A worktree can lie in another working tree.
  const inner = places.toSorted((a, b) => b.root.length - a.root.length);
  const moved = (directory: string) => {
    const place = inner.find(
      ({ root }) => directory === root || directory.startsWith(`${root === '/' ? '' : root}/`),
    );
    const to = place?.worktreeOfVariant.tree?.path;
    return place && to !== undefined ? `${to}${directory.slice(place.root.length)}` : directory;
  };
  return {
    ...others,
    agents: agents.map((agent) => {
      const own = places.find((place) => place.agent === agent.id);
      return {
        ...agent,
        cwd: moved(agent.cwd),
        stack: agent.stack.map((frame) => ({ ...frame, cwd: moved(frame.cwd) })),
        ...(own && { worktree: { ...own.worktreeOfVariant, wasSeen: false } }),
      };
    }),
  };
}
