import * as z from 'zod/mini';
import type { Agents } from '../model/agent.ts';
import { optionTable } from '../options/chosen-options.ts';
import { configKeys } from '../options/option-names.ts';
import { optionSchema } from '../options/option-schema.ts';
import { allChoices } from '../parse/agent-choices.ts';
import { described, type JsonSchema, mapSchema } from './json-schema.ts';

export function configSchema(agents: Agents): JsonSchema {
  const inFiles = optionTable({ choices: allChoices(agents) }).filter(
    ({ only }) => only !== 'command-line',
  );
  const properties = inFiles.flatMap((spec) => {
    const { $schema: _, ...value } = z.toJSONSchema(optionSchema(spec), { target: 'draft-7' });
    return configKeys(spec).map((key) => [key, described(spec.meaning, value)]);
  });
  return mapSchema({
    raymond: mapSchema(Object.fromEntries(properties)),
    agents: described('Further agents, and prices of tokens, by the name of the agent.', {
      type: 'object',
      additionalProperties: mapSchema(AGENT_KEYS),
    }),
  });
}

const usd = { type: 'number', minimum: 0 };

const AGENT_KEYS: Readonly<Record<string, JsonSchema>> = {
  command: described('The program and its arguments.', {
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1 }],
  }),
  protocol: described('The protocol that it speaks.', { const: 'acp' }),
  branch: described('Whether it can branch sessions.', { type: 'boolean' }),
  price: described('USD per million tokens, by name.', {
    type: 'object',
    additionalProperties: mapSchema({ input: usd, cached: usd, output: usd }, ['input', 'output']),
  }),
};
