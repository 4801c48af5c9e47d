/** Makes the JSON form of the variants of a run. */
import type { VariantFigures, VariantRow } from '../model/variant.ts';
import { conditionText } from '../observe/words.ts';
import type { FiguresShape, VariantShape, VariantsShape } from './variant-shape.ts';

interface Group {
  readonly origin: VariantFigures | undefined;
  readonly rows: readonly VariantRow[];
}

export function variantsForm(run: string, groups: readonly Group[]): VariantsShape {
  return {
    id: run,
    moments: groups.flatMap(({ origin, rows }) => {
      const [first] = rows;
      if (!first) return [];
      const { agent, step } = first.origin;
      const own = origin ? figuresForm(origin) : null;
      return [{ agent, step, origin: own, variants: rows.map(variantForm) }];
    }),
  };
}

export function variantForm(row: VariantRow): VariantShape {
  const { origin, branch, merge, worktree } = row;
  return {
    ...figuresForm(row),
    changes: origin.changes,
    number: origin.number,
    branch: branch ?? null,
    merge: merge ?? null,
    worktree: worktree ?? null,
  };
}

function figuresForm({
  condition,
  costUsd,
  workedMs,
  result,
  ...figures
}: VariantFigures): FiguresShape {
  const { run, path, steps, isPriced, failure, files } = figures;
  return {
    id: run,
    status: condition.kind,
    condition: conditionText(condition, Date.now()),
    ...{ path, steps, cost_usd: costUsd },
    ...(isPriced && { cost_is_estimate: true as const }),
    worked_ms: workedMs,
    result: result ?? null,
    failure: failure ?? null,
    files: files ?? null,
  };
}
