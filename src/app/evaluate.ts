/**
 * Carries out an eval: begins the runs that are missing, continues those that were interrupted, scores those
 * that are over, and compares them. All of it is paid from one budget. Nothing depends on this process.
 */
import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { comparedWith, levelFor, type MeasuredRun, summaryOf } from '../evidence/compare.ts';
import { type GateCheck, gateChecks } from '../evidence/gate.ts';
import { compareResult, readScore } from '../evidence/read-score.ts';
import { findTree } from '../execute/git/find-tree.ts';
import { openRun } from '../host/open-run.ts';
import { type BoundedText, bounded } from '../model/bounded-text.ts';
import { conditionOf, isCompleted, type RunCondition } from '../model/condition.ts';
import { counted } from '../model/counted.ts';
import type { Cell } from '../model/event.ts';
import type { Door } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import { type RunSummary, summaryOf as summaryOfRun } from '../model/run-summary.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import { usd } from '../observe/words.ts';
import type { StoredRun } from '../ports.ts';
import { readConfiguration } from '../world/config/configuration.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { commitVariant, variantFiles } from '../world/variant-files.ts';
import { beginCell, folderOf, type Ground } from './begin-cell.ts';
import { type CarryOptions, eachInParallel, LEAST_USD, SeveralRuns } from './carry-several.ts';
import { type EvalWish, type PlannedCell, type PlannedEval, planEval } from './plan-eval.ts';

export interface Score {
  /** Undefined if there is none. */
  readonly score: number | undefined;
  /** The reason of the scorer, or why there is no score. */
  readonly note: string;
  /** The run of the scorer; undefined if there is none. */
  readonly run: string | undefined;
  readonly costUsd: number;
}

/** What came of a run of an eval. */
export interface CellRow {
  readonly id: string;
  readonly cell: Cell;
  readonly condition: RunCondition;
  readonly costUsd: number;
  readonly isPriced: boolean;
  readonly workedMs: number;
  readonly result: BoundedText | undefined;
  readonly failure: string | undefined;
  readonly scores: ReadonlyMap<string, Score>;
}

export interface Evaluated {
  readonly plan: PlannedEval;
  /** Those that have begun, in the order of the plan. */
  readonly rows: readonly CellRow[];
  readonly runs: readonly MeasuredRun[];
  /** Empty without a gate. */
  readonly gate: readonly GateCheck[];
}

export type EvalNews =
  | { readonly kind: 'began' | 'continues'; readonly id: string; readonly cell: Cell }
  | { readonly kind: 'over'; readonly row: CellRow }
  /** The budget does not suffice, or it could not begin. */
  | {
      readonly kind: 'left';
      readonly id: string;
      readonly cell: Cell;
      readonly problem: UserError;
    };

export interface EvaluateOptions extends EvalWish, Pick<CarryOptions, 'carry'> {
  /** Runs of an earlier time, for the gate. */
  readonly baseline?:
    | ((plan: PlannedEval) => Promise<readonly MeasuredRun[] | undefined>)
    | undefined;
  /** Is told before anything begins. `missing` runs do not exist yet. */
  readonly planned?: ((plan: PlannedEval, missing: number) => void) | undefined;
}

export async function evaluate(
  around: Surroundings,
  path: string,
  options: EvaluateOptions,
  door: Door,
  news: (news: EvalNews) => void,
): Promise<Evaluated> {
  const plan = await planEval(around, path, options, door);
  // Before anything is paid for.
  const baseline = await options.baseline?.(plan);
  await around.makeProject();
  const lock = await lockEval(around, plan);
  try {
    return await carriedOut(around, plan, options, { baseline, door, news });
  } finally {
    await lock.release();
  }
}

/** Two commands would spend the budget twice. The lock of a killed one is free. */
async function lockEval(around: Surroundings, { file, workflow }: PlannedEval) {
  const name = createHash('sha256').update(file).digest('hex').slice(0, 16);
  const folder = join(around.project.folder, 'evals', name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return around.lockFolder(folder).catch((error) => {
    if (!(error instanceof UserError) || error.code !== 'worker-exists') throw error;
    throw new UserError(
      'eval-running',
      `Another command works on the eval of ${workflow.name}.`,
      'Wait for it, or stop it with Ctrl-C. Its runs continue.',
    );
  });
}

async function carriedOut(
  around: Surroundings,
  plan: PlannedEval,
  options: EvaluateOptions,
  {
    baseline,
    door,
    news,
  }: {
    readonly baseline: readonly MeasuredRun[] | undefined;
    readonly door: Door;
    readonly news: (news: EvalNews) => void;
  },
): Promise<Evaluated> {
  const existing = await around.store.list();
  const ids = new Set(plan.cells.map(({ id }) => id));
  const missing = plan.cells.filter(({ id }) => !existing.includes(id)).length;
  options.planned?.(plan, missing);
  if (missing > 0) await confirmBudget(around, plan, door);
  const several = new SeveralRuns(
    around,
    existing,
    (await around.store.survey())
      .filter((one) => one.kind === 'stored')
      .filter((one) => belongsTo(one, ids)),
    { totalBudget: plan.totalBudget === 0 ? undefined : plan.totalBudget, carry: options.carry },
    door,
  );
  const context = { around, plan, several, door, news };
  const rows = new Map<string, CellRow>();
  await eachInParallel(
    // Those that exist first.
    plan.cells.toSorted((a, b) => Number(several.has(b)) - Number(several.has(a))),
    plan.maxParallel,
    async (cell) => {
      const run = await carriedCell(context, cell, plan.eachBudget);
      const row = await scoredRow(context, cell, run);
      rows.set(cell.id, row);
      news({ kind: 'over', row });
    },
    ({ id, cell }, problem) => news({ kind: 'left', id, cell, problem }),
  );
  const inOrder = plan.cells.flatMap(({ id }) => rows.get(id) ?? []);
  const runs = inOrder.flatMap((row) => measured(row) ?? []);
  return { plan, rows: inOrder, runs, gate: gateOf(plan, runs, baseline) };
}

/** Runs of this eval, and their scores. */
const belongsTo = (
  { id, run: { cell } }: StoredRun<RunSummary>,
  ids: ReadonlySet<string>,
): boolean => cell !== undefined && ids.has(cell.scores?.run ?? id);

/** The consent that a costly start needs. */
async function confirmBudget(
  around: Surroundings,
  { workflow, totalBudget, cells }: PlannedEval,
  door: Door,
): Promise<void> {
  const { confirmAbove = 0 } = (await readConfiguration(around.project)).options;
  if (confirmAbove === 0 || (totalBudget !== 0 && totalBudget <= confirmAbove)) return;
  const worst = totalBudget === 0 ? 'any amount' : `up to ${usd(totalBudget)}`;
  const fact = `The eval of ${workflow.name} has ${counted(cells.length, 'run')}, and could cost ${worst}, which is more than ${usd(confirmAbove)} (confirm_above).`;
  if (await door.agree({ kind: 'costly-start', facts: [fact] })) return;
  throw new UserError('costly-start', fact, `Lower the budget: --budget ${confirmAbove}`);
}

interface Context {
  readonly around: Surroundings;
  readonly plan: PlannedEval;
  readonly several: SeveralRuns;
  readonly door: Door;
  readonly news: (news: EvalNews) => void;
}

/** Begins or continues a run, and waits until it is over or needs a person. */
async function carriedCell(
  { around, plan, several, door, news }: Context,
  planned: PlannedCell,
  least: number,
): Promise<StoredRun> {
  const { id, cell } = planned;
  await several.carry({
    id,
    isIt: (run) => run.cell?.key === cell.key,
    other: 'no run of this eval',
    budget: { wanted: plan.eachBudget, least },
    begin: (budget) => beginCell(around, { ...planned, ...planned.limited(budget) }, door),
    began: () => news({ kind: 'began', id, cell }),
    continues: () => news({ kind: 'continues', id, cell }),
  });
  const found = await openRun(around.store, id);
  if (found.isOwn) return found;
  throw new UserError(
    'foreign-run',
    `${id} exists, but you did not start it here, so what came of it counts for nothing.`,
    `Remove it: raymond prune ${shellWord(id)}`,
  );
}

async function scoredRow(context: Context, cell: PlannedCell, found: StoredRun): Promise<CellRow> {
  const { run } = found;
  const condition = conditionOf(found);
  const scores = new Map<string, Score>();
  if (isCompleted(run)) await commitVariant(context.around, run);
  for (const planned of context.plan.scorers) {
    const { name, failed = 0, result: how } = planned.scorer;
    if (isCompleted(run)) {
      const score = planned.scoring
        ? await scoreBy(context, cell, found, planned.scoring)
        : {
            ...compareResult(how ?? 'equals', run.result ?? '', cell.case.expected ?? ''),
            ...FREE,
          };
      scores.set(name, score);
    } else if (ENDS.includes(condition.kind))
      scores.set(name, { score: failed, note: `the run is ${condition.kind}`, ...FREE });
  }
  return {
    ...{ id: run.id, cell: cell.cell, condition, scores },
    costUsd: run.totalCostUsd,
    isPriced: run.isPriced,
    workedMs: run.workedMs,
    result: run.result === undefined ? undefined : bounded(run.result, MOST_RESULT),
    failure: summaryOfRun(run).failure?.text,
  };
}

const FREE = { run: undefined, costUsd: 0 };
const MOST_RESULT = 10_000;

/** What counts as an outcome. A run in any other condition can still complete. */
const ENDS: readonly RunCondition['kind'][] = ['completed', 'failed', 'stopped'];

/** A scorer is a run of its own, in a copy of what the run has left. */
async function scoreBy(
  context: Context,
  cell: PlannedCell,
  { run }: StoredRun,
  scoring: NonNullable<PlannedEval['scorers'][number]['scoring']>,
): Promise<Score> {
  const planned = scoring(cell, run, await groundLeft(context.around, cell, run));
  const none = { score: undefined, run: planned.id, costUsd: 0 };
  try {
    const found = await carriedCell(context, planned, LEAST_USD);
    const { result = '', totalCostUsd: costUsd } = found.run;
    if (!isCompleted(found.run))
      return { ...none, costUsd, note: `the scorer is ${conditionOf(found).kind}` };
    const read = readScore(result);
    if (read.ok) return { score: read.score, note: read.note, run: planned.id, costUsd };
    const note = `"${bounded(result, 60).text}" does not begin with a number or a verdict`;
    return { ...none, costUsd, note };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    context.news({ kind: 'left', id: planned.id, cell: planned.cell, problem: error });
    return { ...none, note: error.message };
  }
}

async function groundLeft(around: Surroundings, cell: PlannedCell, run: Run): Promise<Ground> {
  const { ground } = cell;
  if (ground.kind !== 'commit') return { kind: 'copy', from: folderOf(around, run.id) };
  const branch = (await variantFiles(around, run))?.branch;
  if (branch === undefined) return ground;
  const found = await findTree(around.cwd, branch, { run: 'none', folder: '' });
  if (!found.found)
    throw new UserError(
      'no-files',
      `The files that ${run.id} has left cannot be read: ${found.problem}`,
      `Remove the run, and it begins again: raymond prune ${shellWord(run.id)}`,
    );
  return { ...ground, base: found.base };
}

/** Undefined for a run that can still complete. */
function measured({
  cell,
  condition,
  scores,
  costUsd,
  workedMs,
}: CellRow): MeasuredRun | undefined {
  if (!ENDS.includes(condition.kind)) return undefined;
  const known = [...scores].flatMap(([name, { score }]) =>
    score === undefined ? [] : [[name, score] as const],
  );
  const values = { ...Object.fromEntries(known), cost: costUsd, time: workedMs };
  return { case: cell.case, variant: cell.variant, number: cell.number, values };
}

function gateOf(
  { read: { gate }, cells, scorers }: PlannedEval,
  runs: readonly MeasuredRun[],
  baseline: readonly MeasuredRun[] | undefined,
): readonly GateCheck[] {
  if (!gate) return [];
  const { variant = '', least, margin } = gate;
  const isIts = (one: string) => one === variant;
  return gateChecks(
    { least, margin, baseline },
    runs.filter((run) => isIts(run.variant)),
    scorers.map(({ scorer }) => scorer.name),
    cells.filter(({ cell }) => isIts(cell.variant)).length,
  );
}

export interface VariantSummary {
  /** Empty for the workflow as it is. */
  readonly variant: string;
  readonly runs: number;
  readonly completed: number;
  readonly measures: ReadonlyMap<string, MeasureSummary>;
}

export interface MeasureSummary {
  readonly summary: ReturnType<typeof summaryOf>;
  /** Compared with the workflow as it is; undefined for that itself. */
  readonly evidence: ReturnType<typeof comparedWith> | undefined;
}

/** Each variant by itself, and compared with the workflow as it is. */
export function summaries({ plan, rows, runs }: Evaluated): readonly VariantSummary[] {
  const { variants, scorers } = plan;
  const level = levelFor(variants.length * Math.max(1, scorers.length));
  const own = runs.filter(({ variant }) => variant === '');
  const measures = [...scorers.map(({ scorer }) => scorer.name), 'cost', 'time'];
  return ['', ...variants].map((variant) => {
    const its = runs.filter((run) => run.variant === variant);
    const begun = rows.filter(({ cell }) => cell.variant === variant);
    return {
      variant,
      runs: begun.length,
      completed: begun.filter(({ condition }) => condition.kind === 'completed').length,
      measures: new Map(
        measures.map((measure) => [
          measure,
          {
            summary: summaryOf(its, variant, measure),
            evidence: variant === '' ? undefined : comparedWith(own, its, measure, level),
          },
        ]),
      ),
    };
  });
}
