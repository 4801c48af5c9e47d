import type { AgentDeclaration } from '../model/agent.ts';
import type { WORKFLOW_KEYS } from '../parse/yaml-workflow.ts';
import { policyProperties, transitionDefinitions } from './front-matter-schema.ts';
import { described, type JsonSchema, mapSchema, TEXT } from './json-schema.ts';

export function workflowSchema(agent: AgentDeclaration): JsonSchema {
  const properties: Readonly<Record<(typeof WORKFLOW_KEYS)[number], JsonSchema>> = {
    id: described('The first part of the ids of its runs.', {
      type: 'string',
      pattern: '^[A-Za-z0-9][\\w.-]{0,99}$',
    }),
    name: described('A name for display.', TEXT),
    description: described('A description for display.', TEXT),
    input: described('A description of the expected --input.', TEXT),
    default_budget: described(
      'The budget in USD if the user sets none. It can only be lower than the default.',
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
  const prompt = described('The text for the agent.', TEXT);
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
