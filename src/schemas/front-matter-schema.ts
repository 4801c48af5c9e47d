import type { AgentChoice, Agents } from '../model/agent.ts';
import { NOTES_ACCESS } from '../model/notes.ts';
import { type TagName, TRANSITION_TAGS } from '../model/tag.ts';
import { allChoices, choiceKey, tagChoices } from '../parse/agent-choices.ts';
import { SCHEMA } from '../parse/pinned-transition.ts';
import type { PolicyKey } from '../parse/policy.ts';
import type { RightsKey } from '../parse/rights.ts';
import { attributesOf, TAG_RULES } from '../parse/transition.ts';
import { COUNT, FROM_ONE, FROM_TWO, IDLE_SECONDS, USD_ABOVE_0 } from '../parse/yaml-numbers.ts';
import { described, type JsonSchema, mapSchema, numberSchema, TEXT } from './json-schema.ts';

export function frontMatterSchema(agents: Agents): JsonSchema {
  return {
    ...mapSchema(policyProperties(agents)),
    type: ['object', 'null'],
    definitions: transitionDefinitions(agents),
  };
}

/** The definitions that the properties of a policy refer to. */
export function transitionDefinitions(agents: Agents): Readonly<Record<string, JsonSchema>> {
  const choices = tagChoices(agents);
  const anyTag = (schema: (tag: TagName) => JsonSchema) => ({ anyOf: TRANSITION_TAGS.map(schema) });
  return {
    allowedTransition: anyTag((tag) => {
      const { body, required } = TAG_RULES[tag];
      const isText = body === 'question' || body === 'payload';
      return transitionSchema(tag, choices, isText ? required : [body, ...required]);
    }),
    completeTransition: anyTag((tag) =>
      transitionSchema(tag, choices, [TAG_RULES[tag].body, ...TAG_RULES[tag].required]),
    ),
  };
}

/** The keys of a prompt state, in front matter or beside `prompt:`. */
export function policyProperties(agents: Agents): Readonly<Record<string, JsonSchema>> {
  const own: Readonly<Record<PolicyKey, JsonSchema>> = {
    allowed_transitions: described(
      'The tags that the agent may write. Other tags lead to a reminder.',
      {
        type: ['array', 'null'],
        items: { $ref: '#/definitions/allowedTransition' },
      },
    ),
    timeout: described(
      'Seconds without output before the step is stopped; 0 means no limit.',
      numberSchema(IDLE_SECONDS),
    ),
    force_implicit: described('Use the only allowed transition without reading tags.', {
      type: 'boolean',
    }),
    max_visits: described(
      'The number of times that one agent may enter this state.',
      numberSchema(FROM_ONE),
    ),
    rights: rightsProperty(),
    notes: described('Gives its steps the notes of the run, to read or to write.', {
      enum: [...NOTES_ACCESS],
    }),
    on_interrupt: described('How an interrupted step is repeated.', {
      enum: ['continue', 'restart'],
    }),
    evaluators: described('Tests of a finished step that may override its transition.', {
      type: ['array', 'null'],
      items: { anyOf: evaluators() },
    }),
    ensures: described('Commands that must succeed before a transition is taken.', {
      type: ['array', 'null'],
      items: mapSchema(
        {
          run: described('The command. It runs in the directory of the agent.', TEXT),
          on: described('The transitions that need it, such as goto DEPLOY (default: all).', {
            type: 'array',
            items: TEXT,
            minItems: 1,
          }),
          say: described('The text that the agent receives when the command fails.', TEXT),
          tries: described(
            'The number of reminders before the agent fails (default 3).',
            numberSchema(COUNT),
          ),
          else: described('Taken when the last reminder did not help.', {
            $ref: '#/definitions/completeTransition',
          }),
        },
        ['run'],
      ),
    }),
    handover: handoverProperty(),
    context: contextProperty(),
    agent: agentProperty('The agent that takes the prompt, or several in order.', agents),
    fill: described('Who fills the placeholders that have no value.', TEXT),
  };
  const choices = allChoices(agents).flatMap((choice) => choiceProperty(choice, agents));
  return { ...own, ...Object.fromEntries(choices) };
}

export function handoverProperty(): JsonSchema {
  return described('The state whose prompt asks for a handover when a session is compacted.', TEXT);
}

export function contextProperty(): JsonSchema {
  const max = described(
    'The tokens of a session beyond which a goto compacts it.',
    numberSchema(FROM_ONE),
  );
  return described('How large a session may become.', mapSchema({ max }, ['max']));
}

/** What the processes of a state, or of all states, may touch. */
export function rightsProperty(): JsonSchema {
  const list = (meaning: string) =>
    described(meaning, { type: ['array', 'null'], items: { type: 'string', minLength: 1 } });
  const keys: Readonly<Record<RightsKey, JsonSchema>> = {
    write: list('Paths that they may change (default: the directory of the agent).'),
    hide: list('Paths that they must not read, beside those that are always hidden.'),
    network: described('Hosts that they may reach, beside those of the agent itself.', {
      anyOf: [{ enum: ['none', 'all'] }, { type: 'array', items: TEXT }],
    }),
    secrets: list('Secrets of the user that they get as variables, like GH_TOKEN.'),
  };
  const meaning = 'What its processes may touch. The sandbox of the operating system enforces it.';
  return described(meaning, mapSchema(keys));
}

export function agentProperty(meaning: string, { all }: Agents): JsonSchema {
  const name = { enum: all.map((agent) => agent.name) };
  return described(meaning, { anyOf: [name, { type: 'array', items: name, minItems: 1 }] });
}

/** The values that any of the agents accepts. */
function choiceProperty(
  choice: AgentChoice,
  { all }: Agents,
): readonly (readonly [string, JsonSchema])[] {
  const offers = all.flatMap(({ choices }) => choices.filter(({ name }) => name === choice.name));
  const schemas = new Map(
    offers.flatMap(({ inState }) =>
      inState ? [[JSON.stringify(inState.schema), inState.schema] as const] : [],
    ),
  );
  const [first, ...others] = schemas.values();
  if (!choice.inState || !first) return [];
  const value = others.length === 0 ? first : { anyOf: [first, ...others] };
  const lanes = choice.inLanes
    ? { anyOf: [value, { type: 'array', items: value, minItems: 1 }] }
    : value;
  const byAgent = mapSchema(Object.fromEntries(all.map(({ name }) => [name, lanes])));
  const schema = choice.isOwn ? { anyOf: [lanes, byAgent] } : lanes;
  return [[choiceKey(choice), described(choice.inState.meaning, schema)]];
}

/** A transition with the parts that it pins. */
function transitionSchema(
  tag: TagName,
  choices: readonly string[],
  alsoRequired: readonly string[],
): JsonSchema {
  const { body, variables } = TAG_RULES[tag];
  const parts = [body, ...attributesOf(tag, choices)].map((name) => [name, TEXT]);
  const isOpen = body === 'payload' && !alsoRequired.includes(body);
  const schema = isOpen ? { [SCHEMA]: SCHEMA_PROPERTY } : {};
  const map = mapSchema({ tag: { const: tag }, ...Object.fromEntries(parts), ...schema }, [
    'tag',
    ...alsoRequired,
  ]);
  return variables ? { ...map, additionalProperties: TEXT } : map;
}

const SCHEMA_PROPERTY = described(
  'The JSON Schema that the payload must fit, or the name of a file of the workflow with it.',
  {
    anyOf: [
      { type: 'string', pattern: '^[^./\\\\][^/\\\\]*\\.schema\\.json$' },
      { type: 'object' },
    ],
  },
);

function evaluators(): readonly JsonSchema[] {
  const then = { $ref: '#/definitions/completeTransition' };
  const evaluator = (tests: Readonly<Record<string, JsonSchema>>) =>
    mapSchema({ ...tests, then }, [...Object.keys(tests), 'then']);
  return [
    evaluator({ matches: described('A regular expression over the answer.', TEXT) }),
    evaluator({ visits: described('Fires from this visit on.', numberSchema(FROM_ONE)) }),
    evaluator({ cost: described('Fires from this cost on, in USD.', numberSchema(USD_ABOVE_0)) }),
    evaluator({
      unchanged: described(
        'Fires at this entry with the same input and the same files.',
        numberSchema(FROM_TWO),
      ),
    }),
    evaluator({
      prompt: described('The state that judges.', TEXT),
      expect: described('The result that confirms the transition.', TEXT),
    }),
  ];
}
