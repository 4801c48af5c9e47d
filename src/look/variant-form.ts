/** Makes the JSON form of the variants of a run. */
import type { BoundedText } from '../model/bounded-text.ts';
import type { RunCondition } from '../model/condition.ts';
import type { Origin } from '../model/event.ts';
import { conditionText } from '../observe/words.ts';
import type { FiguresShape, VariantShape, VariantsShape } from './variant-shape.ts';

interface Figures {
  readonly run: string;
  readonly condition: RunCondition;
  readonly path: readonly string[];
  readonly steps: number;
  readonly costUsd: number;
  readonly isPriced: boolean;
  readonly workedMs: number;
  readonly result: BoundedText | undefined;
  readonly failure: string | undefined;
  readonly files:
    | { readonly files: number; readonly added: number; readonly removed: number }
    | undefined;
}

interface Row extends Figures {
  readonly origin: Origin;
  readonly branch: string | undefined;
  readonly merge: string | undefined;
  readonly worktree: string | undefined;
}

interface Group {
  readonly origin: Figures | undefined;
  readonly rows: readonly Row[];
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

export function variantForm(row: Row): VariantShape {
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

function figuresForm({ condition, costUsd, workedMs, result, ...figures }: Figures): FiguresShape {
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
