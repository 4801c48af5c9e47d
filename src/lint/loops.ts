/** Loops in which prompts can repeat as long as the budget lasts. */
import { loopsOf } from '../bound/bound.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { fault } from './codes.ts';
import { type Lint, startOf } from './rule.ts';

export function unlimitedLoops({ workflow, states }: Lint): readonly Diagnostic[] {
  return loopsOf(workflow).flatMap(({ by, states: [first = '', ...more], limit }) => {
    const at = states.find(({ name }) => name === (limit ?? first));
    const shown = more.length > MOST_SHOWN ? [...more.slice(0, MOST_SHOWN), '…'] : more;
    const round = [first, ...shown, first].join(' → ');
    const message =
      by === 'fork'
        ? `Agents that start agents have no limit: ${round}. Only --max-agents and the budget end them.`
        : `Prompts can repeat without a limit: ${round}. Only the budget ends them.`;
    const remedy =
      limit === null
        ? 'Let the agents that are started lead to a result.'
        : `Set max_visits for ${limit}.`;
    return fault('unlimited-loop', at?.name ?? first, startOf(at), message, { remedy });
  });
}

const MOST_SHOWN = 6;
