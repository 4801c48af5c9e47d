import type { Evaluator } from '../model/workflow.ts';
import { isFound } from '../parse/pattern.ts';

export type Verdict =
  | { readonly kind: 'pass' }
  | { readonly kind: 'override'; readonly index: number; readonly evaluator: Evaluator }
  /** Only a turn of the judge can decide. */
  | { readonly kind: 'ask-judge'; readonly index: number };

interface EvaluatedStep {
  readonly output: string;
  readonly visits: number;
  /** The number of entries into the state with the same input and files, including this one. */
  readonly sameEntries: number;
  readonly costUsd: number;
}

/** The first evaluator, starting at an index, that fires or needs a judge. */
export function evaluate(
  evaluators: readonly Evaluator[],
  from: number,
  step: EvaluatedStep,
): Verdict {
  for (const [index, evaluator] of evaluators.entries()) {
    if (index < from) continue;
    if (evaluator.kind === 'prompt') return { kind: 'ask-judge', index };
    if (fires(evaluator, step)) return { kind: 'override', index, evaluator };
  }
  return { kind: 'pass' };
}

function fires(evaluator: Exclude<Evaluator, { kind: 'prompt' }>, step: EvaluatedStep): boolean {
  switch (evaluator.kind) {
    case 'matches':
      return isFound(evaluator.pattern, step.output);
    case 'visits':
      return step.visits >= evaluator.count;
    case 'unchanged':
      return step.sameEntries >= evaluator.count;
    case 'cost':
      return step.costUsd >= evaluator.usd;
  }
}
