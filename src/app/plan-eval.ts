/**
 * Plans an eval: which runs there will be. The id of each follows from what decides its result,
 * so the same command continues, and a change of a prompt gives new runs. Nothing has changed after it.
 */
import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { findTree } from '../execute/git/find-tree.ts';
import { isWithin } from '../files/regular-file.ts';
import { withinReach } from '../graph/within-reach.ts';
import { defaultBudgetUsd, entryInput } from '../interpret/workflow-defaults.ts';
import { runIdWith } from '../journal/run-id.ts';
import { evalFileOf, readCompanion } from '../load/companions.ts';
import type { LooseLibrary } from '../load/load.ts';
import type { Cell, Settings } from '../model/event.ts';
import { type Door, warnings } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { usd } from '../observe/words.ts';
import { overlaid } from '../options/chosen-options.ts';
import type { RunOptions } from '../options/run-options.ts';
import { tagChoices } from '../parse/agent-choices.ts';
import {
  type EvalCase,
  type EvalFile,
  type EvalScorer,
  type EvalVariant,
  evalFileSchema,
  MOST_CELLS,
  replacementsOf,
} from '../parse/eval-file.ts';
import { isStateFile } from '../parse/state.ts';
import { configurationFor, ignoredKeys } from '../world/config/configuration.ts';
import { metadataFrom, settingsFrom } from '../world/config/settings.ts';
import { loadNamed } from '../world/load-workflows.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { checkNames, looseLibrary } from '../world/wire.ts';
import type { CellToBegin, Ground } from './begin-cell.ts';
import { optionsOf } from './begin-variant.ts';
import { MOST_AT_ONCE } from './carry-several.ts';
import { refuseFaulty } from './refuse-faulty.ts';
import { give } from './started-run.ts';
import {
  replacementsIn,
  shortName,
  UNCHANGED,
  type Variation,
  variationKey,
} from './variations.ts';

export interface EvalWish {
  /** For all runs together. Only the user may raise it above the default. */
  readonly budget?: number | undefined;
  readonly times?: number | undefined;
  readonly maxParallel?: number | undefined;
}

export interface PlannedEval {
  /** The path of the file. */
  readonly file: string;
  readonly workflow: Workflow;
  readonly read: EvalFile;
  readonly repetitions: number;
  readonly cells: readonly PlannedCell[];
  readonly scorers: readonly PlannedScorer[];
  /** The names of the variants, without the workflow as it is. */
  readonly variants: readonly string[];
  readonly totalBudget: number;
  /** For each run. */
  readonly eachBudget: number;
  readonly maxParallel: number;
}

export type PlannedCell = Omit<CellToBegin, 'settings' | 'given' | 'options'> & {
  readonly case: EvalCase;
  /** With a budget. */
  limited(budgetUsd: number): Pick<CellToBegin, 'settings' | 'given' | 'options'>;
};

export interface PlannedScorer {
  readonly scorer: EvalScorer;
  /** The run that scores a run, unless the scorer is built in. */
  readonly scoring: ((of: PlannedCell, run: Run, ground: Ground) => PlannedCell) | undefined;
}

export async function planEval(
  around: Surroundings,
  path: string,
  wish: EvalWish,
  door: Door,
): Promise<PlannedEval> {
  if (await around.world.workers())
    throw new UserError(
      'needs-files',
      'An eval needs runs in files: its runs have folders on this machine, and workers execute the runs of a database elsewhere.',
      'Add --database none.',
    );
  const config = await configurationFor(around.project, {});
  give(door, warnings(ignoredKeys(config)));
  const { options } = config;
  const library = looseLibrary(around.cwd, options);
  const workflow = await library.load(path);
  const { file, read } = await evalOf(workflow, path);
  const home = await realpath(dirname(file));
  const repetitions = wish.times ?? read.repetitions ?? 1;
  const { cases, variants = [], scorers = [] } = read;
  const count = cases.length * (variants.length + 1) * repetitions;
  if (count > MOST_CELLS)
    throw new UserError(
      'too-many-runs',
      `${count} runs would follow, and an eval has at most ${MOST_CELLS}.`,
      'Lower --times, or remove cases or variants.',
    );
  const budgets = budgetsOf(workflow, read, wish);
  give(door, budgets.notices);
  refuseFaulty(library, workflow, door, options);

  const maker = await cellMaker(library, workflow, options, file);
  const varied = [
    { name: '', variation: UNCHANGED },
    ...(await Promise.all(
      variants.map(async (one) => ({
        name: one.name,
        variation: await variationOf(one, workflow, home),
      })),
    )),
  ];
  refuseEqual(varied);
  for (const { variation } of varied) {
    const chosen = settingsFrom(overlaid(options, optionsOf(variation)));
    looseLibrary(around.cwd, {
      ...(chosen.agent && { agent: chosen.agent }),
      ...agentsIn(options),
    });
    await checkNames(variation.agent ?? workflow.agents.usual, chosen, agentsIn(options));
  }
  const cells: PlannedCell[] = [];
  for (const one of cases) {
    const ground = await groundOfCase(around.cwd, one);
    const input = entryInput(workflow, one.input ?? options.input);
    if (!input.ok)
      throw new UserError(
        'input-missing',
        `The case ${one.name} has no input, but ${input.problem}.`,
        `Add input: to the case, in ${file}.`,
      );
    for (let number = 1; number <= repetitions; number++)
      for (const { name, variation } of varied)
        cells.push(
          maker({
            ...{ case: one, variant: name, number, variation, ground, input: input.input },
            metadata: { ...metadataFrom(options.set ?? []), ...one.set },
          }),
        );
  }
  refuseEqualCases(cells);
  return {
    ...{ file, workflow, read, repetitions, cells },
    scorers: await Promise.all(
      scorers.map((scorer) => plannedScorer({ scorer, home, file, options }, door)),
    ),
    variants: variants.map(({ name }) => name),
    totalBudget: budgets.total,
    eachBudget: budgets.each,
    maxParallel: budgets.atOnce,
  };
}

export async function evalOf(
  workflow: Pick<Workflow, 'ref' | 'name' | 'agents'>,
  path: string,
): Promise<{ readonly file: string; readonly read: EvalFile }> {
  const file = await evalFileOf(workflow.ref);
  const read = await readCompanion(evalFileSchema(tagChoices(workflow.agents)), file);
  if (read) return { file, read };
  throw new UserError(
    'no-eval',
    `The workflow ${workflow.name} has no eval: ${file} does not exist.`,
    `Write it, or begin with a case from a run: raymond eval ${shellWord(path)} --add-case RUN`,
  );
}

const agentsIn = ({ agents }: RunOptions) => (agents ? { agents } : {});

/** A file may lower the default budget. Only the user may raise it, as for a run. */
function budgetsOf({ about }: Workflow, read: EvalFile, wish: EvalWish) {
  const usual = defaultBudgetUsd({});
  const total = wish.budget ?? Math.min(read.budget ?? usual, usual);
  const atOnce = wish.maxParallel ?? read.max_parallel ?? MOST_AT_ONCE;
  // By default, as many as work at a time can begin.
  const share = Math.min(defaultBudgetUsd(about), total / atOnce);
  const isLowered = wish.budget === undefined && (read.budget ?? 0) > usual;
  return {
    ...{ total, atOnce },
    each: Math.min(read.budget_each ?? share, total),
    notices: isLowered
      ? warnings([
          `The eval asks for a budget of ${usd(read.budget ?? 0)}, and has ${usd(usual)}. To allow it: --budget ${read.budget}`,
        ])
      : [],
  };
}

async function variationOf(
  variant: EvalVariant,
  workflow: Workflow,
  home: string,
): Promise<Variation> {
  const { agent, choices } = variant;
  const named = replacementsOf(variant);
  const files = [];
  for (const one of named) {
    await refuseOutside(home, one.replace(/^[^=/]+=/, ''), `The variant ${variant.name}`);
    files.push(...(await replacementsIn(one, workflow, home)));
  }
  return {
    changes: {
      ...(named.length > 0 && { with: named.map(shortName).join(', ') }),
      ...(agent !== undefined && { agent }),
      ...choices,
    },
    ...{ files, agent, input: undefined },
    choices,
  };
}

/** A link can lead out of the folder. A missing file is reported by whoever reads it. */
async function refuseOutside(home: string, path: string, who: string): Promise<void> {
  const real = await realpath(join(home, path)).catch(() => undefined);
  if (real === undefined || isWithin(home, real)) return;
  throw new UserError(
    'outside',
    `${who} names ${path}, which is a link that leaves ${home}.`,
    'Replace it with a copy of the file.',
  );
}

/** Both would be the same runs, and a comparison with itself shows nothing. */
function refuseEqual(varied: readonly { readonly name: string; readonly variation: Variation }[]) {
  const seen = new Map<string, string>();
  for (const { name, variation } of varied) {
    const key = variationKey(variation);
    const other = seen.get(key);
    if (other !== undefined)
      throw new UserError(
        'same-variant',
        `The variant ${name} changes nothing${other === '' ? '' : ` that ${other} does not change`}.`,
        'Remove it, or change something else.',
      );
    seen.set(key, name);
  }
}

function refuseEqualCases(cells: readonly PlannedCell[]) {
  const seen = new Map<string, string>();
  for (const { id, case: one } of cells) {
    const other = seen.get(id);
    if (other !== undefined)
      throw new UserError(
        'same-case',
        `The cases ${other} and ${one.name} begin with the same, so they would be the same runs.`,
        'Remove one of them, and raise repetitions.',
      );
    seen.set(id, one.name);
  }
}

async function groundOfCase(cwd: string, one: EvalCase): Promise<Ground> {
  const { commit } = one;
  if (commit === undefined) return { kind: 'files', of: one };
  const found = await findTree(cwd, commit, { run: 'none', folder: '' });
  if (!found.found)
    throw new UserError(
      'no-commit',
      `The case ${one.name} cannot begin at the commit ${commit}: ${found.problem}`,
      'Name a commit of this repository.',
    );
  const { repository, base, place } = found;
  return { kind: 'commit', repository, base, place };
}

interface WantedCell {
  readonly case: EvalCase;
  readonly variant: string;
  readonly number: number;
  readonly variation: Variation;
  readonly ground: Ground;
  readonly input: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
}

async function cellMaker(
  library: LooseLibrary,
  workflow: Workflow,
  config: RunOptions,
  file: string,
): Promise<(wanted: WantedCell) => PlannedCell> {
  const refs = await loadNamed(library, workflow.ref);
  const read = refs.map((ref) => [ref, library.get(ref)?.files ?? {}]);
  return ({ case: one, variant, number, variation, ground, input, metadata }) => {
    const limited = limitedBy(config, variation);
    const key = keyOf([
      ...['cell', workflow.ref, read, variationKey(variation), input ?? null],
      ...[Object.entries(metadata).toSorted(), groundKey(ground), number],
      decisive(limited(0).settings),
    ]);
    const id = idOf(workflow.name, key);
    const { changes } = variation;
    const cell: Cell = { eval: file, case: one.name, variant, number, key, changes };
    const { ref, entry } = workflow;
    return {
      ...{ id, cell, case: one, workflow: ref, entry, input, metadata, variation, ground, config },
      limited,
    };
  };
}

const limitedBy =
  (config: RunOptions, variation: Variation): PlannedCell['limited'] =>
  (budget) => {
    const given = overlaid({ budget, detach: true }, optionsOf(variation));
    const options = overlaid(config, given);
    return { given, options, settings: settingsFrom(options) };
  };

const keyOf = (facts: readonly unknown[]) =>
  createHash('sha256').update(JSON.stringify(facts)).digest('hex');

const idOf = (name: string, key: string) => runIdWith(name, key.slice(0, 12));

function groundKey(ground: Ground): unknown {
  switch (ground.kind) {
    case 'files':
      return [Object.entries(ground.of.files ?? {}).toSorted(), ground.of.git ?? null];
    case 'commit':
      return [ground.base, ground.place];
    case 'copy':
      return null;
  }
}

/** The settings that decide what comes of a run, not how much of it happens at a time. */
function decisive({ agent, maxIterations, rights, rehearse, maxAgents, maxDepth }: Settings) {
  return [agent, maxIterations, rights, rehearse, maxAgents, maxDepth].map((one) => one ?? null);
}

interface ScorerOf {
  readonly scorer: EvalScorer;
  readonly home: string;
  readonly file: string;
  readonly options: RunOptions;
}

async function plannedScorer(
  { scorer, home, file, options }: ScorerOf,
  door: Door,
): Promise<PlannedScorer> {
  const { by, name } = scorer;
  if (by === undefined) return { scorer, scoring: undefined };
  await refuseOutside(home, by, `The scorer ${name}`);
  const library = looseLibrary(home, options);
  const workflow = await library.load(join(home, by));
  refuseFaulty(library, workflow, door, options);
  const refs = await loadNamed(library, workflow.ref);
  const read = refs.map((ref) => filesInReach(library.get(ref)));
  const { ref, entry } = workflow;
  return {
    scorer,
    scoring(of, run, ground) {
      const { cell } = of;
      const output = run.result ?? '';
      const metadata = {
        ...of.metadata,
        task: of.input ?? '',
        expected: of.case.expected ?? '',
        output: output.slice(0, MOST_OUTPUT),
      };
      const limited = limitedBy(options, UNCHANGED);
      const key = keyOf([
        ...['score', run.id, run.startedAt, run.seq, ref, read, Object.entries(metadata)],
        decisive(limited(0).settings),
      ]);
      return {
        ...{ case: of.case, workflow: ref, entry, metadata, ground, limited },
        ...{ variation: UNCHANGED, config: options, input: output },
        id: idOf(workflow.name, key),
        cell: { ...cell, eval: file, key, scores: { scorer: name, run: run.id } },
      };
    },
  };
}

/** A variable of the environment has a limit. The input has the whole output. */
const MOST_OUTPUT = 30_000;

/** Scorers share a folder, and a change of one must not repeat the others. */
function filesInReach(workflow: Workflow | undefined) {
  if (!workflow) return {};
  const reached = new Set<string>(withinReach(workflow));
  const files = Object.entries(workflow.files ?? {});
  return Object.fromEntries(files.filter(([name]) => !isStateFile(name) || reached.has(name)));
}
