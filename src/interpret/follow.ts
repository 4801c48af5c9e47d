/** INV-6: One switch defines the meaning of all tags. */
import { counted } from '../model/counted.ts';
import type { Frame, RunEvent, RunEventOf, Session, StackChange, Task } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Facts } from '../model/input.ts';
import type { KeptFile } from '../model/kept-file.ts';
import type { Agent, Run } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import type { Ask, Fork, Move } from '../model/transition.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Workflow } from '../model/workflow.ts';
import { agentNamed, agentsOf } from '../parse/chosen-agent.ts';
import { limitsOf } from '../parse/limits.ts';
import { resolveState } from '../parse/resolve.ts';
import { type ChildName, childNames } from './agent-name.ts';
import { callCeiling, forkCeiling, nameCeiling } from './ceilings.ts';
import { failAgent } from './fail-agent.ts';
import { branchClash, childPlace } from './fork-worktree.ts';
import { handoverPrompt, outgrown } from './handover.ts';
import { visitKey } from './new-run.ts';
import { entryInput } from './workflow-defaults.ts';
import { worktreeFate } from './worktree-fate.ts';

export type Workflows = (ref: string) => Workflow | undefined;

interface Standpoint {
  readonly workflows: Workflows;
  readonly run: Run;
  readonly agent: Agent;
  readonly facts: Facts;
  readonly at: number;
}

export type Followed =
  | { readonly ok: true; readonly events: readonly RunEvent[] }
  | { readonly ok: false; readonly failure: Failure };

/** The events of a move, or why the agent cannot make it. Either all of it happens or nothing. */
export function follow(from: Standpoint, move: Move): Followed {
  try {
    check(forkCeiling(from.run, move.forks.length));
    const names = childNames(from.run, from.agent.id, move.forks.map(targetOf));
    const forks = move.forks.map((fork, i) => forkEvent(from, fork, names[i]));
    check(branchClash(forks));
    const tag = move.forks[0]?.tag ?? move.own.tag;
    const children = names.length > 0 ? names.map(({ id }) => id) : from.agent.workers;
    return { ok: true, events: [...forks, ownEvent(from, move.own, tag, children)] };
  } catch (obstacle) {
    if (obstacle instanceof Obstacle) return { ok: false, failure: obstacle.failure };
    throw obstacle;
  }
}

/** Why an agent must not enter a state; undefined when it may. */
export function entryProblem(
  workflows: Workflows,
  agent: Agent,
  workflow: string,
  state: StateName,
): Failure | undefined {
  const { maxVisits } = limitsOf(workflows(workflow)?.states.get(state));
  const visits = agent.visits[visitKey(workflow, state)] ?? 0;
  if (maxVisits === undefined || visits < maxVisits) return undefined;
  const message = `${agent.id} has entered ${state} ${counted(maxVisits, 'time')}, which is the limit (max_visits).`;
  return { kind: 'too-many-visits', message };
}

function ownEvent(
  from: Standpoint,
  own: Move['own'],
  tag: RunEventOf<'agent-moved'>['tag'],
  children: readonly string[],
): RunEvent {
  const { agent, at } = from;
  switch (own.tag) {
    case 'goto':
      return left(from, tag, own, outgrown(from.workflows(agent.workflow), agent));
    case 'compact':
      return left(from, tag, own, 'compact');
    case 'reset':
      return moved(from, tag, {
        state: state(from, own.target),
        session: FRESH,
        cwd: directory(from, own.cd),
        input: own.input,
      });
    case 'call':
      return moved(from, tag, {
        ...branched(from, agent.workflow, state(from, own.target)),
        stack: pushed(from, own.return),
        input: own.input,
      });
    case 'function':
      return moved(from, tag, {
        state: state(from, own.target),
        session: FRESH,
        stack: pushed(from, own.return),
        input: own.input,
        choices: own.choices,
      });
    case 'call-workflow': {
      const entered = entry(from, own.path, own.input);
      return moved(from, tag, {
        ...entered,
        ...branched(from, entered.workflow, entered.state),
        stack: pushed(from, own.return),
      });
    }
    case 'function-workflow':
      return moved(from, tag, {
        ...entry(from, own.path, own.input),
        session: FRESH,
        cwd: directory(from, own.cd),
        stack: pushed(from, own.return),
        choices: own.choices,
      });
    case 'reset-workflow':
      return moved(from, tag, {
        ...entry(from, own.path, own.input),
        session: FRESH,
        cwd: directory(from, own.cd),
        stack: { kind: 'clear' },
      });
    case 'result': {
      const frame = agent.stack.at(-1);
      if (!frame) {
        const worktree = worktreeFate(from.run, agent);
        const ended = {
          type: 'agent-ended',
          at,
          agent: agent.id,
          result: own.payload,
          ...(own.checked && { checked: own.checked }),
        } as const;
        return { ...ended, ...(worktree && { worktree }) };
      }
      return moved(from, tag, { ...frame, stack: { kind: 'pop' }, input: own.payload });
    }
    case 'join':
      return {
        type: 'join-started',
        at,
        agent: agent.id,
        workers: children,
        of: own.of,
        next: state(from, own.target),
        ...deadline(from, own),
        ...(own.failedNext !== undefined && { failedNext: state(from, own.failedNext) }),
        ...(own.rest !== undefined && { rest: own.rest }),
      };
    case 'ask':
      return {
        type: 'agent-asked',
        at,
        agent: agent.id,
        question: own.question,
        next: state(from, own.next),
        ...deadline(from, own),
        ...(own.approval && { approval: own.approval }),
        ...shownFiles(from, own),
        ...(own.accept && { accept: own.accept }),
      };
    default:
      return unreachable(own);
  }
}

/**
 * The agent goes on to a state of its workflow. If its session must be compacted, it first writes what
 * the next one must know. An agent without a session has nothing to hand over but what it received.
 */
function left(
  from: Standpoint,
  tag: RunEventOf<'agent-moved'>['tag'],
  { target, input }: { readonly target: string; readonly input?: string },
  why: 'compact' | number | undefined,
): RunEvent {
  const { workflows, agent, at } = from;
  const next = state(from, target);
  if (why === undefined || agent.session.kind === 'none')
    return moved(from, tag, { state: next, input });
  check(entryProblem(workflows, agent, agent.workflow, next));
  const workflow = workflows(agent.workflow);
  const asked = workflow && handoverPrompt(workflow, workflow.states.get(agent.state));
  if (asked && 'problem' in asked) throw new Obstacle('missing-state', asked.problem);
  return {
    type: 'handover-called',
    at,
    agent: agent.id,
    tag,
    state: next,
    ...(input !== undefined && { input }),
    ...(typeof why === 'number' && { tokens: why }),
  };
}

/** The agent has written its handover, if it could: it goes on in a new session. */
export function handOver(
  workflows: Workflows,
  run: Run,
  agent: Agent,
  { tag, next, input }: Extract<Task, { kind: 'handover' }>,
  at: number,
  handover?: string,
): readonly RunEvent[] {
  const problem = entryProblem(workflows, agent, agent.workflow, next);
  if (problem) return failAgent(run, agent.id, problem, at);
  const session = { ...FRESH, ...(handover !== undefined && { handover }) };
  return [moved({ workflows, run, agent, at }, tag, { state: next, session, input })];
}

interface Destination {
  readonly state: StateName;
  readonly workflow?: string;
  readonly session?: Session;
  readonly cwd?: string;
  readonly stack?: StackChange;
  readonly input?: string | undefined;
  readonly choices?: Readonly<Record<string, string>>;
}

/** Parts that the destination leaves out stay as they are. */
function moved(
  { workflows, agent, at }: Omit<Standpoint, 'facts'>,
  tag: RunEventOf<'agent-moved'>['tag'],
  to: Destination,
): RunEvent {
  const workflow = to.workflow ?? agent.workflow;
  check(entryProblem(workflows, agent, workflow, to.state));
  return {
    type: 'agent-moved',
    at,
    agent: agent.id,
    tag,
    state: to.state,
    workflow,
    session: to.session ?? agent.session,
    cwd: to.cwd ?? agent.cwd,
    stack: to.stack ?? { kind: 'keep' },
    ...(to.input !== undefined && { input: to.input }),
    ...(to.choices && Object.keys(to.choices).length > 0 && { choices: to.choices }),
  };
}

function forkEvent(
  from: Standpoint,
  fork: Fork,
  name: ChildName | undefined,
): RunEventOf<'agent-forked'> {
  if (!name) throw new Error('Bug: a fork without a name');
  check(nameCeiling(name.id));
  const { agent, at } = from;
  const place =
    fork.tag === 'fork'
      ? { workflow: agent.workflow, state: state(from, fork.target), input: fork.input }
      : entry(from, fork.path, fork.input);
  const child = { agent: name.id, directory: directory(from, fork.cd) };
  const where = childPlace(from.run, from.facts, fork, child);
  if (!where.ok) throw new Obstacle(where.failure.kind, where.failure.message);
  return {
    type: 'agent-forked',
    at,
    agent: name.id,
    parent: agent.id,
    counter: name.counter,
    workflow: place.workflow,
    state: place.state,
    cwd: where.cwd,
    variables: fork.variables,
    ...(fork.withheld && { withheld: fork.withheld }),
    ...(place.input !== undefined && { input: place.input }),
    ...(where.worktree && { worktree: where.worktree }),
  };
}

function deadline(
  from: Standpoint,
  { timeoutMs, timeoutNext }: { readonly timeoutMs?: number; readonly timeoutNext?: string },
) {
  return {
    ...(timeoutMs !== undefined && { deadline: from.at + timeoutMs }),
    ...(timeoutNext !== undefined && { timeoutNext: state(from, timeoutNext) }),
  };
}

function shownFiles({ facts }: Standpoint, { files }: Ask): { files?: readonly KeptFile[] } {
  const fact = files && facts.files?.get(filesKey(files));
  if (fact && !fact.found) throw new Obstacle('bad-transition', fact.problem);
  return fact && fact.files.length > 0 ? { files: fact.files } : {};
}

/** Under which the facts have the files of a question. */
export const filesKey = (paths: readonly string[]) => paths.join(',');

const FRESH: Session = { kind: 'none' };

const targetOf = (fork: Fork) => (fork.tag === 'fork' ? fork.target : fork.path);

/** A callee begins with a branch of its caller's session, if its agent can branch. */
function branched({ workflows, agent }: Standpoint, ref: string, name: StateName) {
  const session = branchOf(agent.session);
  const workflow = workflows(ref);
  const callee = workflow?.states.get(name);
  if (session.kind === 'branch' && workflow && callee?.kind === 'prompt') {
    const takers = agentsOf(workflow, callee);
    const taker = takers.find((one) => one === session.executor) ?? takers[0] ?? '';
    const isOwn = session.executor === undefined || session.executor === taker;
    if (isOwn && agentNamed(workflow.agents, taker)?.can.branch === false)
      throw new Obstacle(
        'bad-transition',
        `The agent ${taker} cannot branch a session, so ${name} cannot be called. Use function.`,
      );
  }
  return { state: name, session };
}

/** A callee starts from its caller's memory. If the caller has none, the callee has none. */
function branchOf(session: Session): Session {
  if (session.kind !== 'open') return session;
  const { id: from, kind: _, ...more } = session;
  return { kind: 'branch', from, ...more };
}

function pushed(from: Standpoint, back: string): StackChange {
  check(callCeiling(from.run, from.agent));
  const { workflow, session, cwd } = from.agent;
  const frame: Frame = { state: state(from, back), workflow, session, cwd };
  return { kind: 'push', frame };
}

function state({ workflows, agent }: Standpoint, name: string): StateName {
  const workflow = workflows(agent.workflow);
  if (!workflow)
    throw new Obstacle('bad-workflow', `The workflow ${agent.workflow} is not loaded.`);
  const resolution = resolveState(workflow, name);
  if ('found' in resolution) return resolution.found;
  const kinds = {
    missing: 'missing-state',
    'wrong-platform': 'missing-state',
    ambiguous: 'ambiguous-state',
    broken: 'broken-state',
  } as const;
  throw new Obstacle(kinds[resolution.problem], resolution.message);
}

function directory({ agent, facts }: Standpoint, cd: string | undefined): string {
  if (cd === undefined) return agent.cwd;
  const fact = facts.directories.get(cd);
  if (fact?.found) return fact.path;
  throw new Obstacle(
    'bad-directory',
    fact?.problem ?? `Raymond has not looked at the directory ${cd}.`,
  );
}

function entry(
  { workflows, facts }: Standpoint,
  path: string,
  given: string | undefined,
): { workflow: string; state: StateName; input: string | undefined } {
  const fact = facts.workflows.get(path);
  if (!fact?.found) {
    throw new Obstacle(
      'bad-workflow',
      fact?.problem ?? `Raymond has not looked at the workflow ${path}.`,
    );
  }
  const entered = workflows(fact.ref);
  const received = entered ? entryInput(entered, given) : { ok: true as const, input: given };
  if (!received.ok) {
    throw new Obstacle('bad-transition', `There is no input, but ${received.problem}.`);
  }
  return { workflow: fact.ref, state: fact.entry, input: received.input };
}

function check(failure: Failure | undefined): void {
  if (failure) throw new Obstacle(failure.kind, failure.message);
}

/** Thrown and caught only in this file, so that each case above fits on one line. */
class Obstacle extends Error {
  readonly failure: Failure;

  constructor(kind: Failure['kind'], message: string) {
    super(message);
    this.failure = { kind, message };
  }
}
