/** Placeholders without a value, which a model fills before the prompt is sent. */
import { parsed } from '../model/attempt.ts';
import type { Agent, Run } from '../model/run.ts';
import type { PromptState } from '../model/workflow.ts';
import { isGivenName, PLACEHOLDER } from '../parse/placeholders.ts';

/** The names of a prompt that have no value, each once; none if no model is to fill them. */
export function unfilledNames(
  { policy, template }: PromptState,
  run: Pick<Run, 'metadata'>,
  agent: Pick<Agent, 'variables' | 'filled'>,
): readonly string[] {
  if (!policy.fill || agent.filled) return [];
  return namesWithoutValue(template, { ...run.metadata, ...agent.variables });
}

function namesWithoutValue(template: string, values: Values): readonly string[] {
  const names = [...template.matchAll(PLACEHOLDER)].flatMap(([, name = '']) =>
    isGivenName(name) || Object.hasOwn(values, name) ? [] : [name],
  );
  return [...new Set(names)];
}

type Values = Readonly<Record<string, string>>;

/** The question to the model. It sees the prompt and the known values, and nothing else. */
export function fillQuestion({ template }: PromptState, known: Values, values: Values): string {
  const names = namesWithoutValue(template, values);
  const example = Object.fromEntries(names.map((name) => [name, '…']));
  return [
    'A prompt for another agent has placeholders without a value. Fill them, from the prompt and the known values alone.',
    '',
    '<prompt>',
    template,
    '</prompt>',
    '',
    'The known values, as JSON:',
    '',
    JSON.stringify({ ...known, ...values }, null, 2),
    '',
    `Answer with one JSON object and nothing else. It has exactly ${names.length === 1 ? 'this key' : 'these keys'}, and each value is the text that replaces {{its key}}:`,
    '',
    JSON.stringify(example),
  ].join('\n');
}

/** The values in an answer, or what is wrong with it. */
export function readFilling(
  answer: string,
  names: readonly string[],
): { readonly values: Values } | { readonly problem: string } {
  const read = parsed(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1));
  if (typeof read !== 'object' || read === null || Array.isArray(read))
    return { problem: 'it is not a JSON object' };
  const given = new Map<string, unknown>(Object.entries(read));
  const missing = names.filter((name) => !given.has(name));
  if (missing.length > 0) return { problem: `it has no ${missing.join(', ')}` };
  const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  return { values: Object.fromEntries(names.map((name) => [name, asText(given.get(name))])) };
}
