/**
 * Tries variants of a run: each is a run of its own that begins as the run was before a step, in a worktree
 * with the files of that moment. The run stays as it is.
 *
 * The ids of variants follow from what they are, so a command that is given again continues: it begins the
 * variants that are missing, and resumes those that were interrupted.
 */

import type { BranchPoint } from '../execute/git/variant-files.ts';
import { commitStored } from '../execute/git/variant-files.ts';
import { openRun } from '../host/open-run.ts';
import { Past } from '../interpret/past.ts';
import { planVariant, type VariantPlan, type VariantProblem } from '../interpret/plan-variant.ts';
import { defaultBudgetUsd } from '../interpret/workflow-defaults.ts';
import { allRuns } from '../look/all-runs.ts';
import { variantsForm } from '../look/variant-form.ts';
import type { Origin, Settings } from '../model/event.ts';
import { messageOf } from '../model/message-of.ts';
import { type Door, warnings } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import type { RunSummary } from '../model/run-summary.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import type { VariantFigures, VariantRow } from '../model/variant.ts';
import type { Workflow } from '../model/workflow.ts';
import { changedFiles } from '../model/workflow-files.ts';
import type { RunOptions } from '../options/run-options.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import { agentNamed } from '../parse/chosen-agent.ts';
import type { StepKey, StoredRun } from '../ports.ts';
import { configurationFor, ignoredKeys } from '../world/config/configuration.ts';
import { settingsFrom } from '../world/config/settings.ts';
import { loadWorkflows } from '../world/load-workflows.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { checkNames, configuredLibrary, filesOf, looseLibrary } from '../world/wire.ts';
import {
  beginVariant,
  keptSources,
  optionsOf,
  type VariantMoment,
  type VariantOptions,
  variantId,
  type WantedVariant,
} from './begin-variant.ts';
import {
  type CarryOptions,
  eachInParallel,
  LEAST_USD,
  MOST_AT_ONCE,
  SeveralRuns,
} from './carry-several.ts';
import { acceptForeign } from './foreign-run.ts';
import { refuseInside } from './refuse-inside.ts';
import { filesNow } from './resume.ts';
import { give } from './started-run.ts';
import { originFigures, variantRow } from './variant-figures.ts';
import { type Variation, variationsOf, type WishedVariations } from './variations.ts';

export interface TryWish extends WishedVariations {
  readonly at: StepKey;
  /** How often each variation is tried. */
  readonly times?: number | undefined;
  /** Only the agent at the step goes on. */
  readonly alone?: boolean | undefined;
  /** Whether the variants have the files of the moment, each in a worktree of its own. */
  readonly files?: boolean | undefined;
  /** At most this many states begin in a variant. */
  readonly steps?: number | undefined;
  /** For each variant; by default that of the workflow. */
  readonly budget?: number | undefined;
  /** The consent to branch a run that the user did not start here. */
  readonly trustRun?: boolean | undefined;
}

export interface PlannedTry {
  readonly moment: VariantMoment;
  readonly variants: readonly WantedVariant[];
  readonly options: VariantOptions;
}

/** Decides which variants there will be. Nothing has changed after it, except for objects in the repository. */
export async function planTry(
  around: Surroundings,
  id: string,
  wish: TryWish,
  door: Door,
): Promise<PlannedTry> {
  const { agent, step } = wish.at;
  await refuseInside(around, id, 'try variants of it');
  const config = await configurationFor(around.project, {});
  give(door, warnings(ignoredKeys(config)));
  const past = new Past({ kind: 'to', agent, step });
  const found = await openRun(around.store, id, (event, before) => past.follow(event, before));
  refuseUnfinished(found);
  const files = filesOf(around, id);
  const planned = planVariant(past, found.run, {
    ...{ agent, step, alone: wish.alone === true, at: around.clock.now() },
    rootOf: (directory) => files.rootOf(directory),
  });
  if (!planned.ok) throw refusal(found.run, wish.at, planned.problem);
  const { plan } = planned;
  const library = await configuredLibrary(
    async () => around,
    found.run.cwd,
    await keptSources(around.world, found.run),
  );
  await loadWorkflows(library, plan.then, (problem) => {
    throw problem;
  });
  const workflow = library.get(plan.agent.workflow);
  if (!workflow) throw new Error(`Bug: ${plan.agent.workflow} is not loaded`);
  refuseMissing(workflow, plan);
  give(door, warnings(changesSince(plan.then, library.get)));
  const variations = await variationsOf(wish, workflow, around.cwd);
  refuseSessions(plan, workflow, variations);
  const settings = await settingsOf(around, found, wish, door);
  await checkVariations(around, settings, workflow, variations, config.options);
  const points = wish.files === false ? undefined : await pointsOf(found.run, plan, wish.at);
  const moment: VariantMoment = { plan, now: found.run, agent, step, points, settings };
  const budget =
    wish.budget ?? defaultBudgetUsd((library.get(found.run.workflow) ?? workflow).about);
  const read = [...new Set([found.run.workflow, plan.agent.workflow])].map(
    (ref) => library.get(ref)?.files ?? {},
  );
  const more = [read, wish.steps ?? null];
  const times = Array.from({ length: wish.times ?? 1 }, (_, index) => index + 1);
  const variants = variations.flatMap((variation) =>
    times.map((number) => ({
      ...{ variation, number },
      id: variantId(moment, nameOf(found.run, library.get), variation, number, more),
    })),
  );
  // A variant may have had a limit only to compare its next answer.
  const maxIterations = wish.steps ?? (found.run.origin ? 0 : settings.maxIterations);
  return {
    moment,
    variants,
    options: { config: config.options, given: { budget, maxIterations } },
  };
}

/** Refuses names that nothing knows before a variant begins. */
async function checkVariations(
  { cwd }: Surroundings,
  settings: Settings,
  { agents: { usual } }: Workflow,
  variations: readonly Variation[],
  { agents }: RunOptions,
): Promise<void> {
  for (const variation of variations) {
    const chosen = settingsFrom(optionsOf(variation), settings);
    looseLibrary(cwd, { agent: chosen.agent, ...(agents && { agents }) });
    await checkNames(variation.agent ?? usual, chosen, agents ? { agents } : {});
  }
}

const nameOf = ({ workflow, id }: Run, get: (ref: string) => Workflow | undefined) =>
  get(workflow)?.name ?? id;

function refuseUnfinished({ run: { id, status, settings }, owner }: StoredRun): void {
  if (settings.rehearse)
    throw new UserError(
      'rehearsal',
      `${id} is a rehearsal, which has no conversation and no files to branch.`,
      'Name a run that was not rehearsed.',
    );
  if (!owner && status.kind !== 'stopping') return;
  throw new UserError(
    'run-running',
    `${id} has not ended, so variants of it cannot begin yet.`,
    `Wait for its end, or stop it: raymond stop ${shellWord(id)}`,
  );
}

function refusal({ id }: Run, { agent, step }: StepKey, problem: VariantProblem): UserError {
  const name = shellWord(id);
  const steps = `To see the steps: raymond show ${name} --steps`;
  const alone = `To try ${agent} alone, without the other agents, add --alone`;
  switch (problem.kind) {
    case 'running':
      return new UserError(
        'run-running',
        `A step of ${id} was running when its process ended, so variants of it cannot begin yet.`,
        `Let it continue, then stop it: raymond resume ${name}`,
      );
    case 'no-agent':
      return new UserError('no-agent', `${id} has no agent ${agent}.`, steps);
    case 'no-step':
      return new UserError('no-step', `${agent} of ${id} has no step ${step}.`, steps);
    case 'repeats':
      return new UserError(
        'step-repeats',
        `${agent}:${step} repeats ${agent}:${problem.step}, which was not successful.`,
        `Name the first attempt. ${steps}`,
      );
    case 'others':
      return new UserError(
        'others-at-work',
        `When ${agent}:${step} began, ${few(problem.agents)} ${problem.agents.length === 1 ? 'was' : 'were'} in the middle of a step, which cannot be branched.`,
        `${alone}. Or name a step at which no other one ran. ${steps}`,
      );
    case 'several-places':
      return new UserError(
        'several-places',
        `When ${agent}:${step} began, an agent worked in several working trees, and a variant has one worktree for each agent.`,
        `${alone}, or add --no-files.`,
      );
    case 'no-checkpoint':
      return new UserError(
        'no-checkpoint',
        `The conversation before ${agent}:${step} cannot be branched: it went on, and the agent reported no message at which it can be cut off.`,
        `Choose a step that begins a conversation. ${steps}`,
      );
  }
}

const few = (names: readonly string[]) =>
  names.length > 3
    ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`
    : names.join(', ');

function refuseMissing({ states, ref }: Workflow, { agent: { state } }: VariantPlan): void {
  if (states.has(state)) return;
  throw new UserError(
    'missing-state',
    `${state} is no longer in ${ref}, so no variant can begin with it.`,
    'Restore it, or choose another step.',
  );
}

/** Variants use the workflow as it is now: to try what has changed in it is what they are for. */
function changesSince(then: Run, get: (ref: string) => Workflow | undefined): readonly string[] {
  const changes = [...then.workflowFiles].flatMap(([ref, read]) => {
    const names = changedFiles(read, get(ref)?.files ?? {});
    return names.length > 0 ? [`  ${ref}: ${names.join(', ')}`] : [];
  });
  return changes.length > 0
    ? [
        `These files have changed since ${then.id} read them. Its variants use them as they are now:`,
        ...changes,
      ]
    : [];
}

function refuseSessions(
  { agent, beginning }: VariantPlan,
  workflow: Workflow,
  variations: readonly Variation[],
): void {
  const { agents } = workflow;
  for (const { session, stack } of beginning.agents)
    for (const one of [session, ...stack.map((frame) => frame.session)]) {
      const name = one.kind === 'none' ? undefined : (one.executor ?? agents.usual);
      if (name === undefined || agentNamed(agents, name)?.can.branch) continue;
      throw new UserError(
        'cannot-branch',
        `The agent ${name} cannot branch a conversation, and ${agent.id} continues one at that step.`,
        'Choose a step that begins a conversation.',
      );
    }
  const { session } = agent;
  if (session.kind === 'none') return;
  const owner = session.executor ?? agents.usual;
  const other = variations.find((one) => one.agent !== undefined && one.agent !== owner)?.agent;
  if (other === undefined) return;
  throw new UserError(
    'cannot-branch',
    `The step continues a conversation of ${owner}, which ${other} cannot continue.`,
    'Choose a step that begins a conversation.',
  );
}

async function settingsOf(
  around: Surroundings,
  { run, isOwn, doubt }: StoredRun,
  { trustRun }: TryWish,
  door: Door,
): Promise<Settings> {
  const { learnRights: _, ...settings } = isOwn
    ? run.settings
    : await acceptForeign(
        { run, ...(doubt && { doubt }) },
        around.workspace(run.id),
        await filesNow(run, {}),
        { trustRun },
        door,
        { done: 'branched', command: 'try' },
      );
  return settings;
}

async function pointsOf(
  { id }: Run,
  { places, at }: VariantPlan,
  { agent, step }: StepKey,
): Promise<ReadonlyMap<string, BranchPoint>> {
  const points = new Map<string, BranchPoint>();
  const remedy = `To let the variants work in the directory as it is now, one after another, add --no-files. To choose another step: raymond show ${shellWord(id)} --steps`;
  for (const { root, isTree, tree, worktree } of places) {
    if (!isTree)
      throw new UserError(
        'no-repository',
        `${root} is in no git repository, so the files before ${agent}:${step} are not known.`,
        remedy,
      );
    if (tree === undefined)
      throw new UserError(
        'files-unknown',
        `The files of ${root} before ${agent}:${step} are not known: a step without a record worked there.`,
        `${remedy}. Runs with --checkpoints steps record every step.`,
      );
    const message = `Files of ${id} before ${agent}:${step}`;
    const point = await commitStored({
      run: id,
      root,
      tree,
      at,
      message,
      removed: worktree?.tree,
    }).catch((error) => {
      throw new UserError(
        'files-unknown',
        `The files of ${root} before ${agent}:${step} cannot be used: ${messageOf(error)}.`,
        remedy,
      );
    });
    points.set(root, point);
  }
  return points;
}

export type VariantNews =
  | { readonly kind: 'began' | 'continues'; readonly variant: WantedVariant }
  | { readonly kind: 'over'; readonly variant: WantedVariant; readonly row: VariantRow }
  /** The budget for all variants does not suffice, or it could not begin. */
  | { readonly kind: 'left'; readonly variant: WantedVariant; readonly problem: UserError };

/**
 * Begins and continues variants, and waits until each is over or waits for a person. Nothing of them depends
 * on this process: it can be killed, and called again.
 */
export async function tryVariants(
  around: Surroundings,
  { moment, variants, options }: PlannedTry,
  { maxParallel = moment.points ? MOST_AT_ONCE : 1, totalBudget, carry, detach }: CarryOptions,
  door: Door,
  news: (news: VariantNews) => void,
): Promise<readonly VariantRow[]> {
  const rows = new Map<string, VariantRow>();
  const ids = new Set(variants.map(({ id }) => id));
  const isOf = ({ origin }: Pick<RunSummary, 'origin'>) =>
    origin?.run === moment.now.id && origin.startedAt === moment.now.startedAt;
  const existing = await around.store.list();
  const own = existing.some((id) => ids.has(id)) ? await around.store.survey() : [];
  const several = new SeveralRuns(
    around,
    existing,
    own.filter((one) => one.kind === 'stored').filter(({ id, run }) => ids.has(id) && isOf(run)),
    { totalBudget, carry, detach },
    door,
  );
  const wanted = options.given.budget || totalBudget || 0;
  const carryOne = async (variant: WantedVariant) => {
    const { id } = variant;
    await several.carry({
      ...{ id, isIt: isOf, other: 'no variant of this run', budget: { wanted, least: LEAST_USD } },
      begin: (budget) => beginVariant(around, moment, variant, withBudget(options, budget), door),
      began: () => news({ kind: 'began', variant }),
      continues: () => news({ kind: 'continues', variant }),
    });
    const row = await variantRow(around, id);
    if (!row) return;
    rows.set(id, row);
    if (!detach) news({ kind: 'over', variant, row });
  };
  await eachInParallel(
    // Those that exist first.
    variants.toSorted((a, b) => Number(several.has(b)) - Number(several.has(a))),
    maxParallel,
    carryOne,
    (variant, problem) => news({ kind: 'left', variant, problem }),
  );
  return variants.flatMap(({ id }) => rows.get(id) ?? []);
}

const withBudget = ({ config, given }: VariantOptions, budget: number): VariantOptions => ({
  config,
  given: { ...given, budget },
});

export interface VariantsAt {
  /** The run itself after the moment. Undefined if it no longer has the step. */
  readonly origin: VariantFigures | undefined;
  readonly rows: readonly VariantRow[];
}

/** Variants of a run, by the moments from which they begin. */
export async function sideBySide(
  around: Surroundings,
  rows: readonly VariantRow[],
): Promise<readonly VariantsAt[]> {
  const moments = new Map(rows.map(({ origin }) => [momentOf(origin), origin]));
  const all: VariantsAt[] = [];
  for (const [moment, origin] of moments)
    all.push({
      origin: await originFigures(around, origin),
      rows: rows.filter((row) => momentOf(row.origin) === moment),
    });
  return all;
}

const momentOf = ({ agent, step }: Origin) => `${agent}:${step}`;

/** All variants of a run, the oldest first. */
export async function variantRows(
  around: Surroundings,
  id: string,
  commits = true,
): Promise<readonly VariantRow[]> {
  const { run } = await openRun(around.store, id);
  const rows: VariantRow[] = [];
  for (const found of await allRuns(around.store)) {
    if (found.kind !== 'stored' || found.run.origin?.run !== id) continue;
    if (found.run.origin.startedAt !== run.startedAt) continue;
    const row = await variantRow(around, found.id, commits);
    if (row) rows.push(row);
  }
  return rows;
}

/** The variants of a run side by side. Nothing changes. */
export async function variants(around: Surroundings, id: string) {
  return variantsForm(id, await sideBySide(around, await variantRows(around, id, false)));
}

export const refuseNothing = (id: string) =>
  wrongUsage(
    `${id} has no variants yet.`,
    `Name the step from which they begin, such as --at main:3. To see the steps: raymond show ${shellWord(id)} --steps`,
  );
