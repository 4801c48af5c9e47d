import type { Choice } from '../model/agent.ts';
import type {
  Ensure,
  Evaluator,
  Limits,
  PayloadSchema,
  Policy,
  Workflow,
} from '../model/workflow.ts';
import { allChoices, choiceKey } from '../parse/agent-choices.ts';
import { writeTag } from '../parse/transition.ts';

/** The front matter of a prompt, as names and values for a reader. */
export function policyFacts(
  policy: Policy,
  { agents }: Workflow,
): readonly (readonly [string, string])[] {
  const given: readonly (readonly [string, string | undefined])[] = [
    ...(policy.allowed ?? []).map(
      ({ tag, body, attributes, schema }) =>
        ['may write', writeTag({ name: tag, attributes, body: body ?? openBody(schema) })] as const,
    ),
    ['agent', shown(policy.agent)],
    ...allChoices(agents).map(
      (choice) => [choiceKey(choice), shown(policy.choices[choice.name])] as const,
    ),
    ...limitFacts(policy),
    ['force_implicit', policy.forceImplicit ? 'true' : undefined],
    ['on_interrupt', policy.onInterrupt === 'restart' ? 'restart' : undefined],
    ...policy.evaluators.map(
      (evaluator) =>
        ['evaluator', `${testOf(evaluator)} → ${writeTag(evaluator.transition)}`] as const,
    ),
    ...policy.ensures.map((ensure) => ['ensures', checkOf(ensure)] as const),
  ];
  return given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** What an agent writes into a tag. A schema checks it. */
function openBody(schema: PayloadSchema | undefined): string {
  if (!schema) return '…';
  return `… fits ${schema.file || 'its schema'}`;
}

export function limitFacts({
  idleTimeoutMs,
  maxVisits,
  rights,
}: Limits): readonly (readonly [string, string])[] {
  return [
    ...(idleTimeoutMs === undefined ? [] : [['timeout', `${idleTimeoutMs / 1000} s`] as const]),
    ...(maxVisits === undefined ? [] : [['max_visits', String(maxVisits)] as const]),
    ...Object.entries(rights ?? {}).map(
      ([key, value]) => [`rights.${key}`, [value].flat().join(', ') || 'none'] as const,
    ),
  ];
}

function shown(choice: Choice | undefined): string | undefined {
  return choice === undefined ? undefined : [choice].flat().join(', ');
}

function checkOf({ run, on, otherwise }: Ensure): string {
  const when = on?.map(({ tag, body }) => (body === undefined ? tag : `${tag} ${body}`)).join(', ');
  return `${run}${when === undefined ? '' : ` before ${when}`}${otherwise ? ` → ${writeTag(otherwise)}` : ''}`;
}

function testOf(evaluator: Evaluator): string {
  switch (evaluator.kind) {
    case 'matches':
      return `matches /${evaluator.pattern}/`;
    case 'visits':
      return `visit ${evaluator.count}`;
    case 'unchanged':
      return `entry ${evaluator.count} without a change`;
    case 'cost':
      return `cost $${evaluator.usd.toFixed(2)}`;
    case 'prompt':
      return `${evaluator.state} does not answer ${evaluator.expect}`;
  }
}
