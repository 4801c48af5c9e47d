/** Evaluators that can do nothing. */
import type { Diagnostic } from '../../model/diagnostic.ts';
import type { Evaluator, PromptState } from '../../model/workflow.ts';
import { isFound } from '../../parse/pattern.ts';
import { resolveState } from '../../parse/resolve.ts';
import { waysOf } from '../ways.ts';
import { fault } from './codes.ts';
import { type Lint, prompts } from './rule.ts';

export function neverFiring(lint: Lint): readonly Diagnostic[] {
  return prompts(lint).flatMap((state) => {
    const { evaluators } = state.policy;
    return evaluators.flatMap((evaluator, index) => {
      const before = evaluators.slice(0, index);
      const reason = before.map((other) => hides(other, evaluator)).find(Boolean);
      const why = reason ?? beyondVisits(state, evaluator);
      if (!why) return [];
      const position = { line: evaluator.line, column: 1 };
      return fault(
        'evaluator-never-fires',
        state.name,
        position,
        `This evaluator never fires: ${why}.`,
        {
          remedy: 'Remove it, put it first, or change what it waits for.',
        },
      );
    });
  });
}

export function beyondBudget(lint: Lint): readonly Diagnostic[] {
  const { options, workflow } = lint;
  const budget = options.budgetUsd ?? workflow.about.defaultBudgetUsd ?? DEFAULT_BUDGET_USD;
  if (budget === 0) return [];
  return prompts(lint).flatMap(({ name, policy }) =>
    policy.evaluators.flatMap((evaluator) => {
      if (evaluator.kind !== 'cost' || evaluator.usd < budget) return [];
      const [limit, waits] = [budget, evaluator.usd].map((usd) => `$${usd.toFixed(2)}`);
      const message = `This evaluator waits for ${waits}, but a run stops at its budget of ${limit}.`;
      return fault('evaluator-beyond-budget', name, { line: evaluator.line, column: 1 }, message, {
        remedy: 'Choose a lower cost, or run with a higher --budget.',
      });
    }),
  );
}

/** A judge has to be a prompt, and its own policy may not keep it from giving a result. */
export function badJudges(lint: Lint): readonly Diagnostic[] {
  const { workflow } = lint;
  return prompts(lint).flatMap(({ name, policy }) =>
    policy.evaluators.flatMap((evaluator) => {
      if (evaluator.kind !== 'prompt') return [];
      const resolution = resolveState(workflow, evaluator.state);
      const judge = 'found' in resolution ? workflow.states.get(resolution.found) : undefined;
      if (!judge) return [];
      const ways = waysOf(workflow, judge);
      const canJudge =
        judge.kind === 'prompt' && (ways.length === 0 || ways.some(({ tag }) => tag === 'result'));
      if (canJudge) return [];
      const why = judge.kind === 'prompt' ? 'has no way to a <result>' : 'is not a prompt';
      const message = `${judge.name} cannot judge: it ${why}.`;
      return fault('bad-judge', name, { line: evaluator.line, column: 1 }, message, {
        remedy: 'Name a prompt that ends with <result>YES</result> or another word.',
      });
    }),
  );
}

const DEFAULT_BUDGET_USD = 10;

/** Why the later one is never asked when it would fire; the first that fires wins. */
function hides(earlier: Evaluator, later: Evaluator): string | undefined {
  if (alwaysFires(earlier)) return `the one on line ${earlier.line} always does, and comes first`;
  const isCovered =
    (earlier.kind === 'visits' && later.kind === 'visits' && later.count >= earlier.count) ||
    (earlier.kind === 'cost' && later.kind === 'cost' && later.usd >= earlier.usd) ||
    (earlier.kind === 'matches' && later.kind === 'matches' && later.pattern === earlier.pattern);
  return isCovered ? `the one on line ${earlier.line} fires whenever it would` : undefined;
}

function alwaysFires(evaluator: Evaluator): boolean {
  if (evaluator.kind === 'visits') return evaluator.count === 1;
  if (evaluator.kind !== 'matches') return false;
  return UNLIKE_TEXTS.every((text) => isFound(evaluator.pattern, text));
}

/** A pattern that matches all of these is taken to match everything. */
const UNLIKE_TEXTS = ['', 'x', '\n', ' 7 ', '<goto>A</goto>', 'Über allem.\n\n- eins', '!?'];

function beyondVisits({ policy }: PromptState, evaluator: Evaluator): string | undefined {
  const { maxVisits } = policy;
  if (evaluator.kind !== 'visits' || maxVisits === undefined) return undefined;
  if (evaluator.count <= maxVisits) return undefined;
  return `it waits for visit ${evaluator.count}, and max_visits ends at ${maxVisits}`;
}
