/**
 * JSON Schemas of the files that users write and programs read, for editors and for readers of
 * journals.
 */
import * as z from 'zod/mini';
import type { Agents } from '../model/agent.ts';
import { runEventSchema } from '../model/event.ts';
import { optionTable } from '../options/chosen-options.ts';
import { testSettingsSchema } from '../options/option-schema.ts';
import { allChoices, tagChoices } from '../parse/agent-choices.ts';
import { evalFileSchema } from '../parse/eval-file.ts';
import { rehearsalSchema } from '../parse/rehearsal-file.ts';
import { testFileSchema } from '../parse/test-file.ts';
import { configSchema } from './config-schema.ts';
import { frontMatterSchema } from './front-matter-schema.ts';
import type { JsonSchema } from './json-schema.ts';
import { manifestSchema, workflowSchema } from './workflow-schema.ts';

/** The schemas, by the names of their published files. `address`: the folder in which those are served. */
export function schemas(agents: Agents, address: string): Readonly<Record<string, JsonSchema>> {
  const testFiles = testFileSchema(
    testSettingsSchema(optionTable({ choices: allChoices(agents) })),
  );
  const all = {
    'front-matter': titled('Front matter of a Raymond prompt state', frontMatterSchema(agents)),
    workflow: titled('A Raymond workflow in one file', workflowSchema(agents)),
    manifest: titled('The manifest of a Raymond workflow (workflow.yaml)', manifestSchema(agents)),
    config: titled('.raymond/config.toml', configSchema(agents)),
    test: titled('Tests of a Raymond workflow (*.test.yaml)', fromZod(testFiles)),
    eval: titled(
      'An eval of a Raymond workflow (eval.yaml)',
      fromZod(evalFileSchema(tagChoices(agents))),
    ),
    rehearsal: titled('Answers for a rehearsal (rehearsal.yaml)', fromZod(rehearsalSchema)),
    journal: titled('An event: one line of a journal', fromZod(runEventSchema)),
  };
  return Object.fromEntries(
    Object.entries(all).map(([name, schema]) => [
      name,
      { $id: `${address}/${name}.json`, ...schema },
    ]),
  );
}

function titled(title: string, schema: JsonSchema): JsonSchema {
  return { $schema: 'http://json-schema.org/draft-07/schema#', title, ...schema };
}

function fromZod(schema: z.ZodMiniType): JsonSchema {
  return { ...z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }) };
}
