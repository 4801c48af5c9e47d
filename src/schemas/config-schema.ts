import * as z from 'zod/mini';
import type { AgentDeclaration } from '../model/agent.ts';
import { optionTable } from '../options/chosen-options.ts';
import { configKeys } from '../options/option-names.ts';
import { optionSchema } from '../options/option-schema.ts';
import { described, type JsonSchema, mapSchema } from './json-schema.ts';

export function configSchema(agent: AgentDeclaration): JsonSchema {
  const inFiles = optionTable(agent).filter(({ only }) => only !== 'command-line');
  const properties = inFiles.flatMap((spec) => {
    const { $schema: _, ...value } = z.toJSONSchema(optionSchema(spec), { target: 'draft-7' });
    return configKeys(spec).map((key) => [key, described(spec.meaning, value)]);
  });
  return mapSchema({ raymond: mapSchema(Object.fromEntries(properties)) });
}
