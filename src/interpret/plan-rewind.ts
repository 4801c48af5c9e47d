/**
 * Plans a rewind: which agents go back, what they leave behind, and which files return. It decides
 * everything, so that the event needs nothing else.
 */
import type { RunEventOf, RunOutcome } from '../model/event.ts';
import { withChanges } from '../model/notes.ts';
import type { RewindRequest } from '../model/rewind-request.ts';
import type { Agent, Run } from '../model/run.ts';
import { apply } from './apply.ts';
import { filesAt, stepsByPlace } from './files-at.ts';
import { FIRST_AGENT } from './new-run.ts';
import type { Moment, Past, PastStep } from './past.ts';
import { type Restoring, restoredAgent, restoredEnd } from './restored-agent.ts';
import { placeOf, placesSince, type RootOf, rewindMembers } from './rewind-members.ts';

export interface RewindPlan {
  /** Without the files, which are recorded immediately before it is journaled. */
  readonly event: Omit<RunEventOf<'run-rewound'>, 'files'>;
  /** The agents that go back, each with its first abandoned step. */
  readonly back: readonly { readonly agent: string; readonly step: number | undefined }[];
  /** The working trees whose files return. */
  readonly files: readonly WantedFiles[];
  /** The directories that are in no repository, so that their files are left alone. */
  readonly withoutFiles: readonly string[];
}

export interface WantedFiles {
  readonly root: string;
  /** Undefined if no record shows the files at the moment. */
  readonly tree: string | undefined;
  /** The agent for which the root is the worktree, if it is one. */
  readonly worktreeOf: string | undefined;
}

export type PlannedRewind =
  | { readonly ok: true; readonly plan: RewindPlan }
  | { readonly ok: false; readonly problem: RewindProblem };

export type RewindProblem =
  | 'running'
  | 'no-agent'
  | 'no-step'
  | 'abandoned'
  | 'nothing-to-undo'
  /** A conversation cannot be cut off at the moment. */
  | 'no-checkpoint';

interface RewindFacts {
  /** The time of the rewind. */
  readonly at: number;
  readonly rootOf: RootOf;
}

export function planRewind(
  past: Past,
  now: Run,
  request: RewindRequest,
  facts: RewindFacts,
): PlannedRewind {
  const problem = problemOf(past, now, request);
  if (problem) return { ok: false, problem };
  const { moment } = past;
  if (!moment) return { ok: false, problem: 'no-step' };
  const members = rewindMembers(past, moment, now, seedsOf(moment, request), facts.rootOf);
  const restoring: Restoring = { past, moment, at: facts.at, uncut: [] };
  const event = eventFor(restoring, now, request, members);
  if (restoring.uncut.length > 0) return { ok: false, problem: 'no-checkpoint' };
  const back = [...event.agents, ...event.ended].map(({ id: agent }) => ({
    agent,
    step: event.abandoned.find((one) => one.agent === agent)?.first,
  }));
  return { ok: true, plan: { event, back, ...filesOf(restoring, now, members, facts.rootOf) } };
}

function problemOf(past: Past, now: Run, request: RewindRequest): RewindProblem | undefined {
  if (now.tally.promptsRunning + now.tally.scriptsRunning > 0) return 'running';
  if (request.kind === 'undo') return past.moment ? undefined : 'nothing-to-undo';
  if (past.abandoned.has(request.agent, request.step)) return 'abandoned';
  if (past.moment) return undefined;
  const isKnown = now.agents.has(request.agent) || now.endedAgents.has(request.agent);
  return isKnown ? 'no-step' : 'no-agent';
}

function seedsOf({ rewind }: Moment, request: RewindRequest): readonly string[] {
  if (request.kind === 'to') return [request.agent];
  const { agents = [], ended = [], gone = [] } = rewind ?? {};
  return [...[...agents, ...ended].map(({ id }) => id), ...gone];
}

function eventFor(
  restoring: Restoring,
  now: Run,
  request: RewindRequest,
  members: ReadonlySet<string>,
): RewindPlan['event'] {
  const { moment, at } = restoring;
  const { run: then } = moment;
  const live = [...members].flatMap((id) => agentThen(moment, id) ?? []);
  const agents = live.map(({ agent, started }) => {
    const fate = now.endedAgents.get(agent.id)?.worktree?.fate;
    return restoredAgent(restoring, agent, started, fate === 'removed' || fate === 'removing');
  });
  const ended = [...members].flatMap((id) => {
    const end = then.endedAgents.get(id);
    return end && now.endedAgents.get(id) !== end ? [restoredEnd(id, end)] : [];
  });
  const gone = [...members].filter((id) => !then.agents.has(id) && !then.endedAgents.has(id));
  const left = [
    ...live.map(({ agent }) => leftBy(now, agent.id, agent)),
    ...ended.map(({ id }) => leftBy(now, id, then.endedAgents.get(id))),
    ...gone.map((id) => leftBy(now, id, undefined)),
  ];
  const isFirstBack = members.has(FIRST_AGENT);
  const result = isFirstBack ? then.result : now.result;
  const event: RewindPlan['event'] = {
    type: 'run-rewound',
    at,
    ...(request.kind === 'to' && { to: { agent: request.agent, step: request.step } }),
    ...(request.kind === 'undo' && { undoes: moment.seq }),
    agents,
    ended,
    gone: gone.filter((id) => now.endedAgents.get(id)?.end.kind !== 'rewound'),
    abandoned: left.flatMap(({ steps }) => (steps.first > steps.last ? [] : [steps])),
    costUsd: left.reduce((sum, { costUsd }) => sum + costUsd, 0),
    ...(left.some(({ isPriced }) => isPriced) && { isPriced: true as const }),
    outcome: 'interrupted',
    ...(result !== undefined && { result }),
  };
  const notes = notesThen(restoring, now, event.abandoned);
  return { ...event, ...(notes && { notes }), outcome: outcomeOf(now, event, then) };
}

/** The notes at the moment, with what was written since then by steps that still count. */
function notesThen(
  { past, moment }: Restoring,
  now: Run,
  abandoned: RewindPlan['event']['abandoned'],
): RewindPlan['event']['notes'] {
  if (now.notes.size === 0 && moment.run.notes.size === 0) return undefined;
  const isLeft = (agent: string, step: number) =>
    past.abandoned.has(agent, step) ||
    abandoned.some((one) => one.agent === agent && one.first <= step && step <= one.last);
  let { notes } = moment.run;
  for (const { seq, agent, step, changes } of past.noted)
    if (seq > moment.seq && !isLeft(agent, step))
      notes = withChanges(notes, changes, { agent, step });
  return Object.fromEntries(notes);
}

/** An agent whose step ran at the moment goes back to the beginning of that step. */
function agentThen(
  { run, seq, beforeStep }: Moment,
  id: string,
): { readonly agent: Agent; readonly started: number } | undefined {
  const agent = run.agents.get(id);
  if (!agent) return undefined;
  return beforeStep.get(id) ?? { agent, started: seq };
}

/** The steps and the cost of an agent after the moment. */
function leftBy(now: Run, id: string, then: Pick<Agent, 'steps' | 'costUsd'> | undefined) {
  const spent = now.agents.get(id) ?? now.endedAgents.get(id);
  const { steps, costUsd } = then ?? { steps: 0, costUsd: 0 };
  const leftUsd = Math.max(0, (spent?.costUsd ?? 0) - costUsd);
  return {
    steps: { agent: id, first: steps + 1, last: spent?.steps ?? 0 },
    costUsd: leftUsd,
    isPriced: leftUsd > 0 && spent?.isPriced === true,
  };
}

/** As a stop would leave the run: it can be resumed if an agent can continue. */
function outcomeOf(now: Run, event: RewindPlan['event'], then: Run): RunOutcome {
  if (event.undoes !== undefined && then.status.kind === 'ended') return then.status.outcome;
  const { tally } = apply(now, { ...event, files: [] });
  if (tally.ready + tally.waiting + tally.joining > 0) return 'interrupted';
  if (tally.asking > 0) return 'waiting';
  return tally.failed > 0 ? 'failed' : 'completed';
}

function filesOf(
  { past, moment }: Restoring,
  now: Run,
  members: ReadonlySet<string>,
  rootOf: RootOf,
): Pick<RewindPlan, 'files' | 'withoutFiles'> {
  const { seq, run: then } = moment;
  const knownWorktree = (id: string) =>
    (now.agents.get(id) ?? now.endedAgents.get(id) ?? then.agents.get(id))?.worktree;
  const owners = new Map<string, string>();
  for (const id of members) {
    const path = knownWorktree(id)?.tree?.path;
    if (path !== undefined) owners.set(path, id);
  }
  const steps = stepsByPlace(past, ({ agent, cwd }: PastStep) =>
    placeOf(cwd, agent === undefined ? undefined : knownWorktree(agent), rootOf),
  );
  const places = placesSince(past, seq, then, now, rootOf);
  const wanted = new Set([...members].flatMap((id) => [...(places.get(id) ?? [])]));
  const files: WantedFiles[] = [];
  const withoutFiles: string[] = [];
  for (const root of wanted) {
    const owner = owners.get(root);
    // The worktree of an agent that is gone stays as it is.
    if (owner !== undefined && !then.agents.has(owner)) continue;
    if (owner === undefined && rootOf(root) === undefined) withoutFiles.push(root);
    else {
      const own = owner === undefined ? undefined : moment.beforeStep.get(owner)?.started;
      const tree = filesAt({ seq: own ?? seq, steps: steps.get(root) ?? [] });
      files.push({ root, tree, worktreeOf: owner });
    }
  }
  return { files, withoutFiles };
}
