/** Begins runs in the middle of a workflow: variants of another run. */
import { createHash } from 'node:crypto';
import type { BranchPoint } from '../execute/git/variant-files.ts';
import { movedTo, type VariantPlan } from '../interpret/plan-variant.ts';
import { runIdWith } from '../journal/run-id.ts';
import type { AgentState } from '../model/agent-state.ts';
import type { Origin, Settings } from '../model/event.ts';
import type { Door } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import type { Worktree } from '../model/worktree.ts';
import { overlaid } from '../options/chosen-options.ts';
import type { RunOptions } from '../options/run-options.ts';
import { settingsFrom } from '../world/config/settings.ts';
import { loadWorkflows } from '../world/load-workflows.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { createRun, replacedSources } from './create-run.ts';
import { type Variation, variationKey } from './variations.ts';

/** A moment of a run from which variants begin. */
export interface VariantMoment {
  readonly plan: VariantPlan;
  /** The run as it is now. */
  readonly now: Run;
  readonly agent: string;
  readonly step: number;
  /** The commits with the files of each place at the moment; undefined if files are left alone. */
  readonly points: ReadonlyMap<string, BranchPoint> | undefined;
  /** The settings of the run that its variants keep. */
  readonly settings: Settings;
}

export interface VariantOptions {
  /** The options of the config files. */
  readonly config: RunOptions;
  /** Those of the command, for all variants. */
  readonly given: RunOptions;
}

export interface WantedVariant {
  readonly id: string;
  readonly variation: Variation;
  /** Counts from 1. */
  readonly number: number;
}

/**
 * The id of a variant follows from what it is. So the same command finds the variants that it has begun, after
 * a kill too, and changed prompts give new ones.
 */
export function variantId(
  { now, agent, step, points, plan }: VariantMoment,
  name: string,
  variation: Variation,
  number: number,
  /** Stands for everything else that matters, such as the files of the workflow. */
  more: unknown,
): string {
  const isAlone = plan.beginning.agents.length < plan.then.agents.size;
  const facts = [now.id, now.startedAt, agent, step, isAlone, points === undefined];
  const text = JSON.stringify([facts, variationKey(variation), number, more]);
  return runIdWith(name, createHash('sha256').update(text).digest('hex').slice(0, 8));
}

/** Creates the run. Nothing works on it yet. Throws a UserError if it cannot begin. */
export async function beginVariant(
  around: Surroundings,
  moment: VariantMoment,
  { id, variation, number }: WantedVariant,
  { config, given }: VariantOptions,
  door: Door,
): Promise<void> {
  const { now, plan, agent, step } = moment;
  const { world } = around;
  const own = overlaid(given, optionsOf(variation));
  // As for a resume: the run was started with its settings, whatever a config file says now.
  const settings = settingsFrom(own, moment.settings);
  const options = overlaid(config, own);
  const replaced = await replacedSources(around, id, {
    ...{ cwd: now.cwd, ref: plan.agent.workflow, files: variation.files, options },
    before: await keptSources(world, now),
  });
  const origin: Origin = {
    ...{ run: now.id, startedAt: now.startedAt, agent, step },
    ...{ changes: variation.changes, number },
  };
  const beginning = beginningOf(around, moment, id, variation);
  await createRun(
    around,
    {
      ...{
        id,
        cwd: now.cwd,
        workflow: now.workflow,
        settings,
        options,
        given: own,
        config,
        replaced,
      },
      async load(library) {
        await loadWorkflows(library, plan.then, (problem) => {
          throw problem;
        });
        return [now.workflow, ...[...plan.then.workflowFiles].map(([ref]) => ref)];
      },
      started: () => ({
        state: plan.agent.state,
        metadata: now.metadata,
        ...(now.input !== undefined && { input: now.input }),
        ...(plan.then.lessons.length > 0 && { lessons: plan.then.lessons }),
        ...{ origin, beginning },
      }),
      async created(run) {
        await copyKeptFiles(around, now.id, id, beginning.agents);
        await world.branchSessions(now, run, sessionsIn(beginning.agents));
      },
    },
    door,
  );
}

/** The files of open questions and of answers that a state has yet to receive. */
async function copyKeptFiles(
  { store }: Surroundings,
  from: string,
  to: string,
  agents: readonly AgentState[],
): Promise<void> {
  const files = agents.flatMap(({ answerFiles = [], status }) => [
    ...answerFiles,
    ...((status.kind === 'asking' && status.files) || []),
  ]);
  for (const sha256 of new Set(files.map((file) => file.sha256))) {
    const content = await store.files(from).read(sha256);
    if (content) await store.files(to).keep(content);
  }
}

export function optionsOf({ choices, agent }: Variation): RunOptions {
  const chosen = { ...choices, ...(agent !== undefined && { agent }) };
  return Object.keys(chosen).length > 0 ? { agent: chosen } : {};
}

/** The workflow of a variant that has changed it. Variants of that variant begin with these texts. */
export const keptSources = (world: Surroundings['world'], run: Run) =>
  (run.origin ?? run.cell)?.changes.with === undefined ? undefined : world.sources(run);

/** The agents in the worktrees of the variant, with its changes. */
function beginningOf(
  around: Surroundings,
  { plan, points, agent: target }: VariantMoment,
  id: string,
  { choices, input }: Variation,
) {
  const { worktrees } = around.workspace(id);
  const places = plan.places.flatMap((place) => {
    const point = points?.get(place.root);
    if (!point) return [];
    const branch = branchOf(id, place.agent);
    const worktreeOfVariant: Worktree = {
      branch,
      tree: { path: `${worktrees}/${place.agent}`, ...point },
    };
    return [{ ...place, worktreeOfVariant }];
  });
  const moved = movedTo(plan.beginning, places);
  const before = new Map(plan.beginning.agents.map(({ id: one, cwd }) => [one, cwd]));
  return {
    ...moved,
    agents: moved.agents.map((agent): AgentState => {
      const own = agent.id === target;
      const isMoved = agent.cwd !== before.get(agent.id);
      return {
        ...agent,
        // A tag's choices come before those of the state, which come before those of the run.
        ...(own && { choices: { ...agent.choices, ...ownChoices(choices) } }),
        ...(own && input !== undefined && { input }),
        ...(isMoved &&
          agent.session.kind !== 'none' && {
            words: [...(agent.words ?? []), movedWords(around, agent, before)],
          }),
      };
    }),
  };
}

export const branchOf = (run: string, agent: string) => `raymond/${run}/${agent}`;

const ownChoices = (choices: Variation['choices']) =>
  Object.fromEntries(
    Object.entries(choices).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as const] : [],
    ),
  );

/** The conversation names the files of the other run, which must stay as they are. */
function movedWords(
  { newId, clock }: Surroundings,
  { id, cwd }: AgentState,
  before: ReadonlyMap<string, string>,
) {
  return {
    id: newId(),
    text: `You now work in ${cwd}. It has the files of ${before.get(id)} as they were at this point. Use only files below ${cwd}, also where this conversation names others.`,
    by: 'raymond try',
    at: clock.now(),
  };
}

function sessionsIn(agents: readonly AgentState[]): readonly string[] {
  const all = agents.flatMap(({ session, stack }) => [session, ...stack.map((one) => one.session)]);
  return [...new Set(all.flatMap((one) => (one.kind === 'branch' ? [one.from] : [])))];
}
