import type { AgentDeclaration } from '../model/agent.ts';
import type { WORKFLOW_KEYS } from '../parse/yaml-workflow.ts';
import { policyProperties, transitionDefinitions } from './front-matter-schema.ts';
import { described, type JsonSchema, mapSchema, TEXT } from './json-schema.ts';

export function workflowSchema(agent: AgentDeclaration): JsonSchema {
  const properties: Readonly<Record<(typeof WORKFLOW_KEYS)[number], JsonSchema>> = {
    id: described('Begins the ids of its runs.', {
      type: 'string',
      pattern: '^[A-Za-z0-9][\\w.-]{0,99}$',
    }),
    name: described('Its name for people.', TEXT),
    description: described('What it does.', TEXT),
    input: described('What it expects as --input, in words.', TEXT),
    default_budget: described(
      'In USD, when nobody names a budget; it can only lower the usual one.',
      { type: 'number', minimum: 0 },
    ),
    environment: described('Variables for every step.', {
      type: 'object',
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      additionalProperties: TEXT,
    }),
    states: described('Each state by its name, without an extension.', {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: '^[^./\\\\][^/\\\\]*$', not: { pattern: '\\.(md|sh|bat|ps1)$' } },
      additionalProperties: { anyOf: [promptState(agent), scriptState()] },
    }),
  };
  return { ...mapSchema(properties, ['states']), definitions: transitionDefinitions(agent) };
}

function promptState(agent: AgentDeclaration): JsonSchema {
  const prompt = described('What the agent is sent.', TEXT);
  return mapSchema({ prompt, ...policyProperties(agent) }, ['prompt']);
}

function scriptState(): JsonSchema {
  const scripts = {
    sh: described('For /bin/bash.', TEXT),
    bat: described('For cmd.exe.', TEXT),
    ps1: described('For PowerShell.', TEXT),
  };
  return { ...mapSchema(scripts), minProperties: 1 };
}
