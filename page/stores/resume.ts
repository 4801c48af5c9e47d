/** What a stopped run needs so that a resume continues it, and does not stop again at once. */
import type { StoredRow } from '../../src/look/run-shape.ts';
import { ApiTrouble } from '../lib/api.ts';
import { costText } from '../lib/words.ts';

type Stopped = Pick<
  StoredRow,
  'condition' | 'cost_usd' | 'cost_is_estimate' | 'budget_usd' | 'iterations'
>;

/** As the command line proposes it: the same amount on top of what was spent. */
export function furtherBudget({ cost_usd, budget_usd }: Stopped): number {
  const sum = Math.max(budget_usd, cost_usd) + budget_usd;
  return sum < 1 ? Math.ceil(sum * 100) / 100 : Math.ceil(sum);
}

/** Why this resume would change nothing; undefined if it would. */
export function resumeProblem(
  run: Stopped,
  budget: number | undefined,
  steps: number | undefined,
): ApiTrouble | undefined {
  const money = budget ?? run.budget_usd;
  if (money > 0 && money <= run.cost_usd)
    return trouble(
      `The run has spent ${costText(run)}, so it would stop again at once.`,
      `Give it more, such as ${furtherBudget(run)}, or 0 for no limit.`,
    );
  if (run.condition !== 'stopped: iterations') return undefined;
  if (steps === 0 || (steps !== undefined && steps > run.iterations)) return undefined;
  return trouble(
    `The run has started ${run.iterations} states, so it would stop again at once.`,
    `Allow more, such as ${run.iterations * 2}, or 0 for no limit.`,
  );
}

const trouble = (message: string, remedy: string) =>
  new ApiTrouble(0, { code: 'page', message, remedy });
