/** The JSON form of an eval, and what is read of an earlier one. */
import { dirname, join } from 'node:path';
import type { MeasuredRun } from '../evidence/compare.ts';
import { evidenceText, type MeasureKind } from '../evidence/evidence-text.ts';
import { type PairedEvidence, verdictOf } from '../evidence/paired.ts';
import { readCompanion } from '../load/companions.ts';
import { baselineShape, type EvalShape } from '../look/eval-shape.ts';
import { UserError } from '../model/user-error.ts';
import { conditionText } from '../observe/words.ts';
import { type CellRow, type Evaluated, summaries } from './evaluate.ts';
import type { PlannedEval } from './plan-eval.ts';

export function evalForm(evaluated: Evaluated): EvalShape {
  const { plan, rows, gate } = evaluated;
  return {
    ...{ eval: plan.file, workflow: plan.workflow.ref },
    ...{ cases: plan.read.cases.length, repetitions: plan.repetitions, planned: plan.cells.length },
    cost_usd: costOf(rows),
    ...(rows.some(({ isPriced }) => isPriced) && { cost_is_estimate: true as const }),
    budget_usd: plan.totalBudget,
    variants: summaries(evaluated).map(({ variant, runs, completed, measures }) => ({
      ...{ variant: orNull(variant), runs, completed },
      measures: Object.fromEntries(
        [...measures].map(([name, { summary, evidence }]) => [
          name,
          {
            summary: summary ?? null,
            difference: evidence ? differenceForm(evidence, kindOf(name)) : null,
          },
        ]),
      ),
    })),
    gate: [...gate],
    runs: rows.map(cellForm),
  };
}

const orNull = (variant: string) => (variant === '' ? null : variant);

export const costOf = (rows: readonly CellRow[]): number =>
  rows.reduce(
    (all, { costUsd, scores }) =>
      all + costUsd + [...scores.values()].reduce((sum, one) => sum + one.costUsd, 0),
    0,
  );

/** No scorer has the name of a measure. */
export const kindOf = (measure: string): MeasureKind =>
  measure === 'cost' || measure === 'time' ? measure : 'score';

function differenceForm(evidence: PairedEvidence, kind: MeasureKind) {
  const { pairs, mean, range, chance, needed } = evidence;
  return {
    ...{ pairs, mean, low: range?.low ?? null, high: range?.high ?? null, chance, needed },
    ...{ verdict: verdictOf(evidence), text: evidenceText(evidence, kind) },
  };
}

function cellForm({ id, cell, condition, scores, ...row }: CellRow): EvalShape['runs'][number] {
  return {
    ...{ id, case: cell.case, variant: orNull(cell.variant), number: cell.number },
    ...{ status: condition.kind, condition: conditionText(condition, Date.now()) },
    ...{ result: row.result ?? null, failure: row.failure ?? null, cost_usd: row.costUsd },
    ...(row.isPriced && { cost_is_estimate: true as const }),
    worked_ms: row.workedMs,
    scores: Object.fromEntries(
      [...scores].map(([name, { score, note, run, costUsd }]) => [
        name,
        { score: score ?? null, note, run: run ?? null, cost_usd: costUsd },
      ]),
    ),
  };
}

/** The file of the gate with an earlier outcome; undefined if the gate names none. */
export const baselineFile = ({ file, read: { gate } }: PlannedEval): string | undefined =>
  gate?.baseline === undefined ? undefined : join(dirname(file), gate.baseline);

/** The earlier runs of the workflow as it was then. */
export async function readBaseline(
  plan: PlannedEval,
  /** The command that makes it. */
  remedy: string,
): Promise<readonly MeasuredRun[] | undefined> {
  const file = baselineFile(plan);
  if (file === undefined) return undefined;
  const read = await readCompanion(baselineShape, file);
  if (!read)
    throw new UserError(
      'no-baseline',
      `The gate compares with ${file}, which does not exist.`,
      remedy,
    );
  return read.runs
    .filter(({ variant }) => variant === null)
    .map(({ case: name, number, scores }) => ({
      ...{ case: name, variant: '', number },
      values: Object.fromEntries(
        Object.entries(scores).flatMap(([scorer, { score }]) =>
          score === null ? [] : [[scorer, score] as const],
        ),
      ),
    }));
}
