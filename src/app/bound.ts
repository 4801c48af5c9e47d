/** The most that a run of a workflow can use, before it starts. Nothing changes. */
import { type Bound, boundOf, countsOf, type Usual } from '../bound/bound.ts';
import type { Others } from '../bound/machine.ts';
import { stateOfNode } from '../graph/graph.ts';
import { namedWorkflows } from '../graph/named-workflows.ts';
import { newRun } from '../interpret/new-run.ts';
import { defaultBudgetUsd } from '../interpret/workflow-defaults.ts';
import type { Door } from '../model/notice.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { usd } from '../observe/words.ts';
import type { RunStore, WorkflowLibrary } from '../ports.ts';
import { readConfiguration } from '../world/config/configuration.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { looseLibrary } from '../world/wire.ts';
import { boundLines } from './bound-words.ts';
import { pastRuns } from './past-runs.ts';
import type { StartOptions } from './start.ts';

export type { Bound };

export interface BoundRequest {
  /** The price of a turn in US dollars; otherwise finished runs say what each state costs. */
  readonly turn?: number | undefined;
  readonly maxAgents?: number | undefined;
  readonly maxIterations?: number | undefined;
  /** 0 is unlimited. */
  readonly budget?: number | undefined;
}

export interface BoundReport extends Bound {
  readonly workflow: string;
  /** The budget of such a run, which ends it at the latest; null: unlimited. */
  readonly budget_usd: number | null;
}

export async function bound(
  around: Pick<Surroundings, 'cwd' | 'project' | 'store'>,
  path: string,
  request: BoundRequest = {},
): Promise<BoundReport> {
  const { options } = await readConfiguration(around.project);
  const library = looseLibrary(around.cwd, options);
  return boundOfLoaded(around.store, library, await library.load(path), {
    ...limitsIn(options),
    ...limitsIn(request),
    turn: request.turn,
  });
}

/** The same for a workflow that is loaded, with the limits of a run. */
export async function boundOfLoaded(
  store: RunStore,
  library: Pick<WorkflowLibrary, 'load'>,
  workflow: Workflow,
  request: BoundRequest,
): Promise<BoundReport> {
  return {
    workflow: workflow.ref,
    budget_usd: budgetOf(workflow, request),
    ...(await boundOfRun(store, library, workflow, request)),
  };
}

type Limits = Pick<BoundRequest, 'maxAgents' | 'maxIterations' | 'budget'>;

const limitsIn = ({ maxAgents, maxIterations, budget }: Limits): Limits => ({
  ...(maxAgents !== undefined && { maxAgents }),
  ...(maxIterations !== undefined && { maxIterations }),
  ...(budget !== undefined && { budget }),
});

function budgetOf({ about }: Workflow, { budget }: Limits): number | null {
  return (budget ?? defaultBudgetUsd(about) ?? newRun.settings.budgetUsd) || null;
}

async function boundOfRun(
  store: RunStore,
  library: Pick<WorkflowLibrary, 'load'>,
  workflow: Workflow,
  { turn, maxAgents, maxIterations }: Limits & { readonly turn?: number | undefined },
): Promise<Bound> {
  const others = await namedBy(library, workflow);
  const usual = await usualOf(store, workflow);
  return boundOf(workflow, { others, maxAgents, maxIterations, turnUsd: turn, usual });
}

/** The workflows that a workflow names, directly or through others. */
async function namedBy(
  library: Pick<WorkflowLibrary, 'load'>,
  workflow: Workflow,
): Promise<Others> {
  const found = new Map<string, Workflow>();
  const seen = new Map([[workflow.ref, workflow]]);
  for (const [ref, from] of seen) {
    for (const path of namedWorkflows(from)) {
      if (seen.size >= MOST_WORKFLOWS) break;
      const named = await library.load(path, ref).catch((error: unknown) => {
        if (!(error instanceof UserError)) throw error;
      });
      if (!named) continue;
      found.set(JSON.stringify([path, ref]), named);
      seen.set(named.ref, named);
    }
  }
  return (path, from) => found.get(JSON.stringify([path, from]));
}

/** As many as a run reads before its first step. */
const MOST_WORKFLOWS = 100;

async function usualOf(store: RunStore, { ref, files }: Workflow): Promise<Usual> {
  const pasts = await pastRuns(store, ref, files);
  const visits = new Map<string, { usd: number; ms: number }>();
  for (const [node, count, ms, cost] of pasts.flatMap((past) => past.nodes)) {
    const state = stateOfNode(node);
    if (state === undefined || count === 0) continue;
    const known = visits.get(state) ?? { usd: 0, ms: 0 };
    visits.set(state, {
      usd: Math.max(known.usd, cost / count),
      ms: Math.max(known.ms, ms / count),
    });
  }
  return { runs: pasts.length, visits };
}

/** The figures that a start says, without the cost: they take no look at finished runs. */
export async function countsOfRun(
  library: Pick<WorkflowLibrary, 'load'>,
  workflow: Workflow,
  { maxAgents, maxIterations }: Limits,
) {
  const others = await namedBy(library, workflow);
  return countsOf(workflow, { others, maxAgents, maxIterations });
}

/** Asks before a start that could cost more than the user wants to spend without a question. */
export async function confirmCost(
  {
    store,
    library,
    workflow,
  }: {
    readonly store: RunStore;
    readonly library: Pick<WorkflowLibrary, 'load'>;
    readonly workflow: Workflow;
  },
  { confirmAbove = 0, startedBy, ...options }: StartOptions,
  door: Door,
): Promise<void> {
  const isFree = options.rehearse === true || options.rehearsal !== undefined;
  // Whoever trusted the trigger has agreed to its runs.
  if (confirmAbove === 0 || isFree || startedBy) return;
  const budget = budgetOf(workflow, options);
  if (budget !== null && budget <= confirmAbove) return;
  const most = await boundOfRun(store, library, workflow, options);
  if (most.cost_usd !== null && most.cost_usd <= confirmAbove) return;
  const cost = Math.min(most.cost_usd ?? Infinity, budget ?? Infinity);
  const worst = cost === Infinity ? 'any amount' : `up to ${usd(cost)}`;
  const fact = `A run of ${workflow.name} could cost ${worst}, which is more than ${usd(confirmAbove)} (confirm_above).`;
  const facts = [fact, ...boundLines(most)];
  if (await door.agree({ kind: 'costly-start', facts })) return;
  throw new UserError(
    'costly-start',
    fact,
    `Lower the budget: --budget ${confirmAbove}. Or start it all the same: --confirm-above ${cost === Infinity ? 0 : Math.ceil(cost * 100) / 100}. To see why: raymond bound ${shellWord(workflow.ref)}`,
  );
}
