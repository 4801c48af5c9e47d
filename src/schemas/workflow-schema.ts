import type { Agents } from '../model/agent.ts';
import { MISSED, OVERLAPS, SIGNATURES, type Trigger } from '../model/trigger.ts';
import type { LimitKey } from '../parse/limits.ts';
import type { TRIGGER_KEYS } from '../parse/triggers.ts';
import type { HeadKey } from '../parse/workflow-head.ts';
import { USD } from '../parse/yaml-numbers.ts';
import {
  agentProperty,
  contextProperty,
  handoverProperty,
  policyProperties,
  rightsProperty,
  transitionDefinitions,
} from './front-matter-schema.ts';
import { described, type JsonSchema, mapSchema, numberSchema, TEXT } from './json-schema.ts';

/** A workflow in one YAML file. */
export function workflowSchema(agents: Agents): JsonSchema {
  const states = described('Each state by its name, without an extension.', {
    type: 'object',
    minProperties: 1,
    propertyNames: { pattern: '^[^./\\\\][^/\\\\]*$', not: { pattern: '\\.(md|sh|bat|ps1)$' } },
    additionalProperties: { anyOf: [promptState(agents), scriptState(agents)] },
  });
  return {
    ...mapSchema({ ...headProperties(agents), states }, ['states']),
    definitions: transitionDefinitions(agents),
  };
}

/** The file `workflow.yaml` of a folder or an archive. */
export function manifestSchema(agents: Agents): JsonSchema {
  const states = described('Limits of states without front matter, by the names of their files.', {
    type: ['object', 'null'],
    propertyNames: { pattern: '^[^./\\\\][^/\\\\]*$' },
    additionalProperties: mapSchema(limitProperties(agents)),
  });
  return { ...mapSchema({ ...headProperties(agents), states }), type: ['object', 'null'] };
}

function headProperties(agents: Agents): Readonly<Record<HeadKey, JsonSchema>> {
  return {
    id: described('The first part of the ids of its runs.', {
      type: 'string',
      pattern: '^[A-Za-z0-9][\\w.-]{0,99}$',
    }),
    name: described('A name for display.', TEXT),
    description: described('A description for display.', TEXT),
    input: described('The expected --input: a text that names it, or a map.', {
      anyOf: [
        TEXT,
        mapSchema({
          required: described('Whether a run needs one.', { type: 'boolean' }),
          label: described('Names the input for the user.', TEXT),
          default: described('The input if the user gives none.', TEXT),
        }),
      ],
    }),
    default_budget: described(
      'The budget in USD if the user sets none. It can only be lower than the default.',
      numberSchema(USD),
    ),
    environment: described('Variables for every step.', {
      type: 'object',
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      additionalProperties: TEXT,
    }),
    agent: agentProperty('The agent that takes the prompts of states that name none.', agents),
    rights: rightsProperty(),
    handover: handoverProperty(),
    context: contextProperty(),
    triggers: triggersProperty(),
    requires_human_input: described('A key of other tools. It has no effect.', {}),
  };
}

function triggersProperty(): JsonSchema {
  const overlap = described(
    'What to do while the run of an earlier occasion is not over.',
    oneOf(OVERLAPS),
  );
  const properties = {
    schedule: {
      schedule: described('Minute, hour, day, month and weekday, like "30 3 * * 1-5".', TEXT),
      timezone: described('The time zone of the schedule, like Europe/Berlin.', TEXT),
      overlap,
      missed: described('What to do about times that passed while nothing ran.', oneOf(MISSED)),
    },
    webhook: {
      webhook: described('The last part of the address: /hooks/<name>.', {
        type: 'string',
        pattern: '^[A-Za-z0-9][\\w-]{0,63}$',
      }),
      secret: described('The secret that signs the deliveries.', TEXT),
      signature: described('How deliveries are signed.', oneOf(SIGNATURES)),
      unsigned: described('Accepts deliveries of anybody.', { type: 'boolean' }),
      match: described('Paths of the payload, and the values that they must have.', {
        type: 'object',
      }),
      overlap,
    },
    files: {
      files: described('A folder of the project and a name with * and ?, like inbox/*.md.', TEXT),
      overlap,
    },
  } satisfies {
    readonly [K in Trigger['kind']]: Record<(typeof TRIGGER_KEYS)[K][number], JsonSchema>;
  };
  return described('What starts runs of the workflow without a person.', {
    type: 'array',
    items: { anyOf: Object.entries(properties).map(([kind, keys]) => mapSchema(keys, [kind])) },
  });
}

const oneOf = (words: readonly string[]): JsonSchema => ({ enum: [...words] });

function promptState(agents: Agents): JsonSchema {
  const prompt = described('The text for the agent.', TEXT);
  return mapSchema({ prompt, ...policyProperties(agents) }, ['prompt']);
}

function scriptState(agents: Agents): JsonSchema {
  const scripts = {
    sh: described('For /bin/bash.', TEXT),
    bat: described('For cmd.exe.', TEXT),
    ps1: described('For PowerShell.', TEXT),
  };
  const kinds = Object.keys(scripts).map((kind) => ({ required: [kind] }));
  return { ...mapSchema({ ...scripts, ...limitProperties(agents) }), anyOf: kinds };
}

function limitProperties(agents: Agents): Readonly<Record<LimitKey, JsonSchema>> {
  const { timeout = {}, max_visits = {}, rights = {}, notes = {} } = policyProperties(agents);
  return { timeout, max_visits, rights, notes };
}
