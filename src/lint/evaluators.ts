/** Evaluators that have no effect. */
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Evaluator, PromptState } from '../model/workflow.ts';
import { isFound } from '../parse/pattern.ts';
import { resolveState } from '../parse/resolve.ts';
import { fault } from './codes.ts';
import { type Lint, prompts } from './rule.ts';

export function neverFiring(lint: Lint): readonly Diagnostic[] {
  return prompts(lint).flatMap((state) => {
    const whyHidden = hiddenByEarlier();
    return state.policy.evaluators.flatMap((evaluator) => {
      const why = whyHidden(evaluator) ?? beyondVisits(state, evaluator);
      if (!why) return [];
      return fault(
        'evaluator-never-fires',
        state.name,
        evaluator,
        `This evaluator never fires: ${why}.`,
        {
          remedy: 'Remove it, move it up, or change its condition.',
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
      return fault('evaluator-beyond-budget', name, evaluator, message, {
        remedy: 'Choose a lower cost, or run with a higher --budget.',
      });
    }),
  );
}

/** A judge must be a prompt, and its own policy must allow a result. */
export function badJudges(lint: Lint): readonly Diagnostic[] {
  const { workflow } = lint;
  return prompts(lint).flatMap(({ name, policy }) =>
    policy.evaluators.flatMap((evaluator) => {
      if (evaluator.kind !== 'prompt') return [];
      const resolution = resolveState(workflow, evaluator.state);
      const judge = 'found' in resolution ? workflow.states.get(resolution.found) : undefined;
      if (!judge) return [];
      const ways = lint.ways.get(judge.name) ?? [];
      const canJudge =
        judge.kind === 'prompt' && (ways.length === 0 || ways.some(({ tag }) => tag === 'result'));
      if (canJudge) return [];
      const why = judge.kind === 'prompt' ? 'has no transition to a <result>' : 'is not a prompt';
      const message = `${judge.name} cannot judge: it ${why}.`;
      return fault('bad-judge', name, evaluator, message, {
        remedy: 'Name a prompt that ends with <result>YES</result> or another word.',
      });
    }),
  );
}

const DEFAULT_BUDGET_USD = 10;

/**
 * Takes the evaluators of a state in order. Returns why an evaluator is never reached: the first
 * that fires wins.
 */
function hiddenByEarlier(): (evaluator: Evaluator) => string | undefined {
  let always: Evaluator | undefined;
  const least = new Map<string, { readonly line: number; readonly value: number }>();
  const patterns = new Map<string, number>();
  return (evaluator) => {
    const { line } = evaluator;
    if (always) return `the evaluator on line ${always.line} comes first and always fires`;
    let earlier: number | undefined;
    if (evaluator.kind === 'matches') {
      earlier = patterns.get(evaluator.pattern);
      if (earlier === undefined) patterns.set(evaluator.pattern, line);
    } else if (evaluator.kind !== 'prompt') {
      const value = evaluator.kind === 'cost' ? evaluator.usd : evaluator.count;
      const known = least.get(evaluator.kind);
      if (known && known.value <= value) earlier = known.line;
      else least.set(evaluator.kind, { line, value });
    }
    if (earlier !== undefined)
      return `the evaluator on line ${earlier} comes first and fires in the same cases`;
    if (alwaysFires(evaluator)) always = evaluator;
    return undefined;
  };
}

function alwaysFires(evaluator: Evaluator): boolean {
  if (evaluator.kind === 'visits') return evaluator.count === 1;
  if (evaluator.kind !== 'matches') return false;
  return UNLIKE_TEXTS.every((text) => isFound(evaluator.pattern, text));
}

/** A pattern that matches all of these texts is assumed to match everything. */
const UNLIKE_TEXTS = ['', 'x', '\n', ' 7 ', '<goto>A</goto>', 'Über allem.\n\n- eins', '!?'];

function beyondVisits({ policy }: PromptState, evaluator: Evaluator): string | undefined {
  const { maxVisits } = policy;
  if (evaluator.kind !== 'visits' || maxVisits === undefined) return undefined;
  if (evaluator.count <= maxVisits) return undefined;
  return `it waits for visit ${evaluator.count}, but max_visits is ${maxVisits}`;
}
