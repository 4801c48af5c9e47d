import type { Evaluator, Policy } from '../model/workflow.ts';
import { writeTag } from '../parse/transition.ts';

/** What front matter says, as names and values that a person reads. */
export function policyFacts(policy: Policy): readonly (readonly [string, string])[] {
  const { model, effort, idleTimeoutMs, maxVisits } = policy;
  const given: readonly (readonly [string, string | undefined])[] = [
    ...(policy.allowed ?? []).map(
      ({ tag, body, attributes }) =>
        ['may write', writeTag({ name: tag, attributes, body: body ?? '…' })] as const,
    ),
    ['model', model],
    ['effort', effort],
    ['timeout', idleTimeoutMs === undefined ? undefined : `${idleTimeoutMs / 1000} s`],
    ['max_visits', maxVisits?.toString()],
    ['force_implicit', policy.forceImplicit ? 'true' : undefined],
    ['on_interrupt', policy.onInterrupt === 'restart' ? 'restart' : undefined],
    ...policy.evaluators.map(
      (evaluator) =>
        ['evaluator', `${testOf(evaluator)} → ${writeTag(evaluator.transition)}`] as const,
    ),
  ];
  return given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

function testOf(evaluator: Evaluator): string {
  switch (evaluator.kind) {
    case 'matches':
      return `matches /${evaluator.pattern}/`;
    case 'visits':
      return `visit ${evaluator.count}`;
    case 'cost':
      return `cost $${evaluator.usd.toFixed(2)}`;
    case 'prompt':
      return `${evaluator.state} does not say ${evaluator.expect}`;
  }
}
