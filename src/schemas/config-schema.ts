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
  return mapSchema({ raymond: mapSchema(Object.fromEntries(properties)) });
}
