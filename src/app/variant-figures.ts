/** What came of a variant, and of the run from which it branched off: its path, its cost and its files. */
import { openRun } from '../host/open-run.ts';
import { bounded } from '../model/bounded-text.ts';
import { conditionOf, type RunCondition } from '../model/condition.ts';
import type { Origin, RunEvent } from '../model/event.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import type { Run } from '../model/run.ts';
import { shellWord } from '../model/shell-word.ts';
import type { VariantFigures, VariantRow } from '../model/variant.ts';
import { stemOf } from '../parse/state.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { commitVariant, variantFiles } from '../world/variant-files.ts';

/** Reads a variant; undefined if it is none. `commits`: whether files that are not committed yet are now. */
export async function variantRow(
  around: Surroundings,
  id: string,
  commits = true,
): Promise<VariantRow | undefined> {
  let follower: Follower | undefined;
  const found = await openRun(around.store, id, (event, before, after) => {
    follower ??= new Follower(after.origin?.agent ?? '', 1);
    follower.follow(event, before, after);
  });
  const { run, owner } = found;
  const { origin } = run;
  if (!origin || !follower) return undefined;
  // Where workers execute runs, nobody else does it.
  if (!owner && found.isOwn && commits) await commitVariant(around, run);
  const files = await variantFiles(around, run);
  const branch = owner ? undefined : files?.branch;
  const root = branch && (await rootOf(around, run));
  return {
    ...figuresOf(run, conditionOf(found), follower),
    ...{ origin, branch, files: files?.lines, worktree: files?.worktree },
    merge: branch && `git ${root === undefined ? '' : `-C ${shellWord(root)} `}merge ${branch}`,
  };
}

/** Where a person merges, unless it is where the command works. */
async function rootOf({ cwd, store }: Surroundings, { origin, cwd: own }: Run) {
  const found = origin && (await store.look(origin.run).catch(() => undefined));
  const agent = origin?.agent ?? '';
  const of = found?.kind === 'stored' ? found.run : undefined;
  const tree = (of?.agents.get(agent) ?? of?.endedAgents.get(agent))?.worktree?.tree?.path;
  const place = tree ?? own;
  return place === cwd || cwd.startsWith(`${place}/`) ? undefined : place;
}

/** The run itself after the moment, for comparison. `from` is the number of the first event after it. */
export async function originFigures(
  around: Surroundings,
  { run: id, agent, step }: Pick<Origin, 'run' | 'agent' | 'step'>,
): Promise<VariantFigures | undefined> {
  let follower: Follower | undefined;
  const found = await around.store.look(id, (event, before, after) => {
    const begins = event.type === 'step-started' && event.agent === agent && event.step === step;
    if (begins) follower = new Follower(agent, event.seq);
    follower?.follow(event, before, after);
  });
  if (found.kind === 'damaged' || !follower) return undefined;
  return { ...figuresOf(found.run, conditionOf(found), follower), files: undefined };
}

function figuresOf(run: Run, condition: RunCondition, follower: Follower) {
  const { path, steps, costUsd, isPriced, workedMs } = follower;
  const end = run.endedAgents.get(follower.agent)?.end;
  const result = end?.kind === 'ended' ? end.result : run.result;
  const failed = [...run.agents].find(([, { status }]) => status.kind === 'failed')?.[1].status;
  return {
    ...{ run: run.id, condition, path, steps, costUsd, isPriced, workedMs },
    result: result === undefined ? undefined : bounded(result, MOST_RESULT),
    failure: failed?.kind === 'failed' ? failed.failure.message : undefined,
  };
}

const MOST_RESULT = 10_000;

/** Follows the events of a run from a moment on. */
class Follower {
  readonly agent: string;
  readonly #from: number;
  readonly path: string[] = [];
  steps = 0;
  costUsd = 0;
  isPriced = false;
  #workedBefore = 0;
  #workedMs = 0;

  constructor(agent: string, from: number) {
    this.agent = agent;
    this.#from = from;
  }

  get workedMs(): number {
    return this.#workedMs - this.#workedBefore;
  }

  follow(event: RunEvent, before: Run | undefined, after: Run): void {
    this.#workedMs = after.workedMs;
    if (after.seq === this.#from) {
      this.#workedBefore = before?.workedMs ?? 0;
      this.#enter(after);
    }
    if (event.type === 'step-started') this.steps += 1;
    if (isStepEnd(event)) {
      this.costUsd += event.cost.usd;
      this.isPriced ||= after.isPriced && event.cost.usd > 0;
    }
    if ('agent' in event && event.agent === this.agent && MOVES.has(event.type)) this.#enter(after);
  }

  #enter({ agents }: Run): void {
    const agent = agents.get(this.agent);
    if (agent && this.path.length < MOST_STATES) this.path.push(stemOf(agent.state));
  }
}

const MOVES = new Set<RunEvent['type']>([
  'agent-moved',
  'agent-answered',
  'question-timed-out',
  'join-reported',
]);
const MOST_STATES = 1000;
