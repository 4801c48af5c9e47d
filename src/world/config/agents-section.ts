/**
 * The sections `[agents.NAME]` of a config file: further agents, and prices of models for agents that
 * report only tokens. A command runs a program, and a low price lifts the budget. So a project may
 * have such a section only if the user trusts its file.
 */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { KNOWN_ACP } from '../../execute/acp/known.ts';
import { BUILT_IN_AGENTS } from '../../execute/agents/agent-option.ts';
import type {
  ConfiguredAgent,
  ConfiguredAgents,
  Price,
  Prices,
} from '../../model/configured-agent.ts';
import { nearest } from '../../parse/nearest.ts';
import { readHost } from '../../parse/rights.ts';
import { splitWords } from '../../parse/split-words.ts';

/** Throws the error for a key: its path, the fact and the remedy. */
export type Refuse = (path: readonly string[], fact: string, remedy: string) => never;

export function readAgentsSection(
  section: unknown,
  folder: string,
  refuse: Refuse,
): ConfiguredAgents {
  const at = ['agents'];
  if (!isTable(section))
    return refuse(at, 'has a wrong value for agents', 'Write sections like [agents.mine].');
  return Object.fromEntries(
    Object.entries(section).map(([name, value]) => [
      name,
      readAgent(name, value, folder, (path, fact, remedy) =>
        refuse(['agents', name, ...path], fact, remedy),
      ),
    ]),
  );
}

const KEYS = ['command', 'protocol', 'branch', 'hosts', 'writes', 'price'];
const NAME = /^[a-z][a-z0-9-]{0,39}$/;
/** Journals name these executors. */
const RESERVED = ['script', 'scripted', 'rehearsal'];

function readAgent(name: string, value: unknown, folder: string, refuse: Refuse): ConfiguredAgent {
  if (!NAME.test(name) || RESERVED.includes(name))
    refuse(
      [],
      `has an agent with the name "${name}"`,
      `Begin with a letter, use lower-case letters, digits and hyphens, and none of ${RESERVED.join(', ')}.`,
    );
  if (!isTable(value)) return refuse([], `has a wrong value for agents.${name}`, asSection(name));
  for (const key of Object.keys(value)) {
    if (KEYS.includes(key)) continue;
    const near = nearest(key, KEYS);
    const remedy = near ? `Did you mean ${near}?` : `Write one of ${KEYS.join(', ')}.`;
    refuse([key], `has an unknown key "${key}" in [agents.${name}]`, remedy);
  }
  const { command, protocol, branch, price } = value;
  if (isBuiltIn(name)) return ofBuiltIn(name, value, folder, refuse);
  if (protocol !== undefined && protocol !== 'acp')
    refuse(['protocol'], wrong(name, 'protocol'), 'Write protocol = "acp", the only one.');
  if (branch !== undefined && typeof branch !== 'boolean')
    return refuse(['branch'], wrong(name, 'branch'), 'Write true or false.');
  const argv = command === undefined ? undefined : readCommand(name, command, folder, refuse);
  if (argv === undefined && !Object.hasOwn(KNOWN_ACP, name)) return refuse([], ...unknown(name));
  return {
    ...(argv && { command: argv }),
    ...(branch !== undefined && { branch }),
    ...readNeeds(name, value, folder, refuse),
    prices: readPrices(name, price, refuse),
  };
}

const isBuiltIn = (name: string): name is (typeof BUILT_IN_AGENTS)[number] =>
  BUILT_IN_AGENTS.some((one) => one === name);

/** Raymond knows how to start these, and what they can do. */
function ofBuiltIn(
  name: (typeof BUILT_IN_AGENTS)[number],
  value: Table,
  folder: string,
  refuse: Refuse,
): ConfiguredAgent {
  const { command, protocol, branch, price } = value;
  const given = Object.entries({ command, protocol, branch }).find(([, one]) => one !== undefined);
  if (given)
    refuse(
      [given[0]],
      `has ${given[0]} for ${name}, which Raymond knows`,
      `Remove it. To use another program, set ${name}_path under [raymond].`,
    );
  if (name === 'claude' && price !== undefined)
    refuse(['price'], 'has prices for claude, which reports its cost itself', 'Remove them.');
  return { ...readNeeds(name, value, folder, refuse), prices: readPrices(name, price, refuse) };
}

/** What the agent itself needs in a state with rights. */
function readNeeds(
  name: string,
  { hosts, writes }: Table,
  folder: string,
  refuse: Refuse,
): Pick<ConfiguredAgent, 'hosts' | 'writes'> {
  if (hosts !== undefined && !(isTexts(hosts) && hosts.every((host) => readHost(host))))
    return refuse(
      ['hosts'],
      wrong(name, 'hosts'),
      'Write it like hosts = ["api.example.com:443"].',
    );
  if (writes !== undefined && !isTexts(writes))
    return refuse(['writes'], wrong(name, 'writes'), 'Write it like writes = ["~/.my-agent"].');
  const whole = writes?.map((path) => resolve(folder, path.replace(/^~(?=\/|$)/, homedir())));
  return { ...(hosts && { hosts }), ...(whole && { writes: whole }) };
}

function readCommand(
  name: string,
  command: unknown,
  folder: string,
  refuse: Refuse,
): readonly string[] {
  const words = typeof command === 'string' ? splitWords(command) : command;
  if (!isTexts(words) || words.length === 0 || words[0] === '')
    return refuse(
      ['command'],
      wrong(name, 'command'),
      'Write the program and its arguments, like command = "my-agent --acp".',
    );
  const [program = '', ...args] = words;
  return [program.includes('/') ? resolve(folder, program) : program, ...args];
}

function readPrices(name: string, price: unknown, refuse: Refuse): Prices {
  if (price === undefined) return {};
  const remedy = `Write it like price."gpt-5" = { input = 1.25, cached = 0.125, output = 10.0 }, in USD per million tokens.`;
  if (!isTable(price)) return refuse(['price'], wrong(name, 'price'), remedy);
  return Object.fromEntries(
    Object.entries(price).map(([model, one]) => {
      const read = /^\S+$/.test(model) ? readPrice(one) : undefined;
      return [model, read ?? refuse(['price', model], wrong(name, `price.${model}`), remedy)];
    }),
  );
}

function readPrice(value: unknown): Price | undefined {
  if (!isTable(value)) return undefined;
  const { input, cached = input, output, ...others } = value;
  if (!isUsd(input) || !isUsd(cached) || !isUsd(output)) return undefined;
  return Object.keys(others).length === 0 ? { input, cached, output } : undefined;
}

const isUsd = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

type Table = Readonly<Record<string, unknown>>;

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const wrong = (name: string, key: string) => `has a wrong value for agents.${name}.${key}`;

const asSection = (name: string) =>
  `Write [agents.${name}], and below it command = "program --acp" and protocol = "acp".`;

function unknown(name: string): readonly [string, string] {
  const near = nearest(name, [...BUILT_IN_AGENTS, ...Object.keys(KNOWN_ACP)]);
  return [
    `has no command for the agent "${name}"`,
    near ? `Did you mean ${near}? Otherwise add command.` : asSection(name),
  ];
}

/** The sections as lines of a config file. */
export function agentAssignments(agents: ConfiguredAgents = {}): readonly string[] {
  return Object.entries(agents).flatMap(([name, { command, branch, hosts, writes, prices }]) => [
    ...(command ? [`agents.${name}.command = ${JSON.stringify(command)}`] : []),
    ...(branch === undefined ? [] : [`agents.${name}.branch = ${branch}`]),
    ...(hosts ? [`agents.${name}.hosts = ${JSON.stringify(hosts)}`] : []),
    ...(writes ? [`agents.${name}.writes = ${JSON.stringify(writes)}`] : []),
    ...Object.entries(prices).map(
      ([model, { input, cached, output }]) =>
        `agents.${name}.price.${JSON.stringify(model)} = { input = ${input}, cached = ${cached}, output = ${output} }`,
    ),
  ]);
}
