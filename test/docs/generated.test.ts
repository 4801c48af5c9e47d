// Parts of the reference are generated from the code. Such a part is between
// `<!-- generated: name -->` and `<!-- end -->`. To update them, run:
// UPDATE_DOCS=1 npx vitest run test/docs/generated.test.ts && npm run format
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { readResults } from '../../bench/frame/result.ts';
import { performanceText } from '../../bench/frame/table.ts';
import { toMermaid } from '../../src/draw/mermaid.ts';
import { AGENTS } from '../../src/execute/agents/agents.ts';
import { PRICES, PRICES_FROM } from '../../src/execute/agents/price-table.ts';
import { graphOf } from '../../src/graph/graph.ts';
import { loadWorkflow } from '../../src/index.ts';
import { runEventSchema, runOutcomeSchema } from '../../src/model/event.ts';
import { failureSchema } from '../../src/model/failure.ts';
import type { OptionSpec } from '../../src/model/option.ts';
import { configKey } from '../../src/options/option-names.ts';
import { stateChoices, tagChoices } from '../../src/parse/agent-choices.ts';
import {
  GIVEN_NAMES,
  JUDGE_NAMES,
  MEANINGS,
  SCRIPT_NAMES,
  variableOf,
} from '../../src/parse/placeholders.ts';
import { policyKeys } from '../../src/parse/policy.ts';
import { TAG_RULES } from '../../src/parse/transition.ts';
import { openApi } from '../../src/serve/openapi.ts';
import { configTemplate } from '../../src/world/config/config-file.ts';
import { COMMAND_LINE_OPTIONS, CONFIG_OPTIONS } from '../../src/world/config/option-table.ts';
import { BIN } from '../built.ts';
import { readAction } from '../github/composite-runner.ts';
import { decisionRecords } from './decision-records.ts';
import { documents, readDocument, root } from './documents.ts';
import { keptInvariants } from './invariants.ts';

/** An agent may leave out those that it does not have. */
const ABILITIES = Object.keys(AGENTS.all[0]?.can ?? {});

const action = readAction(join(root, 'action.yml'));

const GENERATED: Readonly<Record<string, () => string | Promise<string>>> = {
  'run options': () =>
    table(
      ['option', 'meaning', 'in config.toml'],
      COMMAND_LINE_OPTIONS.map((spec) => [
        forms(spec).map(code).join(', '),
        spec.meaning,
        spec.only === 'command-line' ? 'no' : code(configKey(spec)),
      ]),
    ),
  'inputs of the action': () =>
    table(
      ['input', 'meaning', 'default'],
      Object.entries(action.inputs ?? {}).map(
        ([name, { description, default: usual, required }]) => [
          code(name),
          description,
          required ? 'required' : usual === undefined ? '' : code(usual),
        ],
      ),
    ),
  'outputs of the action': () =>
    table(
      ['output', 'meaning'],
      Object.entries(action.outputs ?? {}).map(([name, { description }]) => [
        code(name),
        description,
      ]),
    ),
  commands: () => helpOf([]).commands.map(commandSection).join('\n'),
  tags: () =>
    table(
      ['tag', 'its body', 'must have', 'may have'],
      Object.entries(TAG_RULES).map(([name, { body, required, optional, variables, choices }]) => [
        code(name),
        body,
        required.map(code).join(', ') || '-',
        [
          ...[...optional, ...(choices ? tagChoices(AGENTS) : [])].map(code),
          ...(variables ? ['any variable'] : []),
        ].join(', ') || '-',
      ]),
    ),
  'variables of scripts': () =>
    table(
      ['variable', 'value'],
      SCRIPT_NAMES.map((name) => [code(variableOf(name)), MEANINGS[name]]),
    ),
  placeholders: () =>
    table(
      ['placeholder', 'value'],
      [...GIVEN_NAMES, ...JUDGE_NAMES].map((name) => [code(`{{${name}}}`), MEANINGS[name]]),
    ),
  performance: () => performanceText(readResults()[0]),
  ...Object.fromEntries(
    readdirSync(join(root, 'templates')).map((name) => [
      `diagram of ${name}`,
      () => diagramOf(name),
    ]),
  ),
  agents: () =>
    table(
      ['agent', ...ABILITIES, 'keys of front matter'],
      AGENTS.all.map(({ name, can, choices }) => [
        code(name),
        ...ABILITIES.map((key) => {
          const ability = new Map<string, string | boolean>(Object.entries(can)).get(key);
          return typeof ability === 'string' ? ability : ability ? 'yes' : 'no';
        }),
        [...stateChoices(choices).keys()].map(code).join(', '),
      ]),
    ),
  prices: () =>
    `Prices of ${PRICES_FROM}:\n\n${table(['models', 'input', 'stored input', 'output'], priceRows())}`,
  config: () => `\`\`\`toml config\n${configTemplate()}\`\`\`\n`,
  decisions: () =>
    table(
      ['number', 'decision', 'date', 'status'],
      decisionRecords().map(({ number, title, file, date, status }) => [
        String(number),
        `[${title}](${file})`,
        date,
        status,
      ]),
    ),
  invariants: () =>
    table(
      ['invariant', 'statement', 'kept by'],
      keptInvariants().map(({ number, statement, file }) => [
        `INV-${number}`,
        statement,
        code(file),
      ]),
    ),
  imports: () =>
    table(
      ['folder or file of `src`', 'may import'],
      importRules().map(([folder, targets]) => [code(folder), targets.map(code).join(', ') || '-']),
    ),
  events: () =>
    table(
      ['event', 'fields, besides `type` and `at`'],
      events().map(({ type, fields }) => [code(type), fields.map(code).join(', ') || '-']),
    ),
};

/** The table that the test of the architecture checks. A test file cannot be imported. */
function importRules(): readonly (readonly [string, readonly string[]])[] {
  const text = readFileSync(join(root, 'test/architecture.test.ts'), 'utf8');
  const [, rules = ''] = /\bMAY_USE\b[^=]*= \{\n([\s\S]*?)\n\};/.exec(text) ?? [];
  const found = [...rules.matchAll(/^ {2}'?([\w.-]+)'?: \[([^\]]*)\],$/gm)].map(
    ([, folder = '', list = '']) =>
      [folder, [...list.matchAll(/'([^']+)'/g)].map(([, name = '']) => name)] as const,
  );
  if (found.length < 20) throw new Error('The table of imports was not found.');
  return found;
}

/** One row for all models of one price. */
function priceRows(): string[][] {
  const rows = new Map<string, string[]>();
  for (const [model, price] of PRICES) {
    const key = Object.values(price).join(' ');
    rows.set(key, [...(rows.get(key) ?? []), code(model)]);
  }
  return [...rows].map(([key, models]) => [models.join(', '), ...key.split(' ')]);
}

test.each(Object.keys(GENERATED))('the part "%s" is up to date', async (name) => {
  const begin = `<!-- generated: ${name} -->\n`;
  const holder = documents.find(({ text }) => text.includes(begin));
  if (!holder) throw new Error(`No document holds the generated part "${name}".`);
  const file = join(root, holder.path);
  const text = readFileSync(file, 'utf8');
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf('<!-- end -->', from);
  const made = `\n${await GENERATED[name]?.()}\n`;
  if (unpadded(text.slice(from, to)) === unpadded(made)) return;
  if (process.env.UPDATE_DOCS) writeFileSync(file, text.slice(0, from) + made + text.slice(to));
  else expect(unpadded(text.slice(from, to))).toBe(unpadded(made));
});

test('the OpenAPI document is up to date', () => {
  const file = join(root, 'docs/reference/openapi.json');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const made = openApi(version);
  if (process.env.UPDATE_DOCS) writeFileSync(file, JSON.stringify(made));
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(made)));
});

test('llms.txt is up to date', () => {
  const file = join(root, 'llms.txt');
  if (process.env.UPDATE_DOCS) writeFileSync(file, llmsText());
  expect(readFileSync(file, 'utf8')).toBe(llmsText());
});

test('the entry for the MCP registry is up to date, and within its limits', () => {
  const file = join(root, 'server.json');
  const made = serverEntry();
  if (process.env.UPDATE_DOCS) writeFileSync(file, `${JSON.stringify(made, undefined, 2)}\n`);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(made);
  expect(made.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/);
  expect(made.description.length).toBeLessThanOrEqual(100);
});

const packageSchema = z.object({
  name: z.string(),
  version: z.string(),
  mcpName: z.string(),
  homepage: z.optional(z.string()),
  repository: z.optional(z.object({ url: z.string() })),
});

/** The registry accepts it if the npm package of that name has the same `mcpName`. */
function serverEntry() {
  const { name, version, mcpName, homepage, repository } = packageSchema.parse(
    JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')),
  );
  const url = repository?.url.replace(/^git\+/, '').replace(/\.git$/, '');
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: mcpName,
    title: 'Raymond',
    description: 'Starts, watches, checks and proposes workflows for coding agents',
    ...(homepage !== undefined && { websiteUrl: homepage }),
    ...(url !== undefined && { repository: { url, source: 'github' } }),
    version,
    packages: [
      {
        ...{ registryType: 'npm', identifier: name, version },
        transport: { type: 'stdio' },
        packageArguments: [{ type: 'positional', value: 'mcp' }],
      },
    ],
  };
}

/** The documents for a model: each with its title and its first sentence. */
function llmsText(): string {
  const [first = ''] = sentencesOf(readDocument('README.md').text);
  const sections = [
    ['Guide', 'docs/guide/'],
    ['Reference', 'docs/reference/'],
    ['Architecture', 'docs/architecture/'],
  ] as const;
  const lines = sections.flatMap(([title, folder]) => [
    ...['', `## ${title}`, ''],
    ...documents
      .filter(({ path }) => path.startsWith(folder))
      .map(({ path, text }) => {
        const [about] = sentencesOf(text);
        const [, heading = path] = /^# (.*)$/m.exec(text) ?? [];
        return `- [${heading.replaceAll('`', '')}](${path})${about === undefined ? '' : `: ${about}`}`;
      })
      .sort(),
  ]);
  return ['# Raymond', '', `> ${first}`, ...lines, ''].join('\n');
}

/** Of the first paragraph after the title, without links. */
function sentencesOf(text: string): readonly string[] {
  const [, paragraph] = /^# .*\n\n(?!```|[#|<-])((?:.+\n)+)/m.exec(text) ?? [];
  const plain = paragraph
    ?.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  return plain?.split(/(?<=[.!?]) (?=[A-Z])/) ?? [];
}

/** A template as `raymond diagram` draws it. */
async function diagramOf(template: string): Promise<string> {
  const workflow = await loadWorkflow(join('templates', template), { cwd: root, platform: 'unix' });
  return `\`\`\`mermaid\n${toMermaid(graphOf(workflow))}\`\`\`\n`;
}

/** The names that a table or a list in a document must mention, in code style. */
const DESCRIBED: readonly (readonly [string, readonly string[]])[] = [
  ['docs/reference/journal.md', events().map(({ type }) => type)],
  ['docs/guide/when-things-go-wrong.md', Object.values(failureSchema.shape.kind.def.entries)],
  ['docs/reference/front-matter.md', policyKeys(AGENTS)],
  ['docs/reference/exit-codes.md', Object.values(runOutcomeSchema.def.entries)],
  [
    'docs/reference/config.md',
    CONFIG_OPTIONS.filter(({ inProject }) => inProject !== 'harmless').map(configKey),
  ],
  ['docs/guide/scripts.md', SCRIPT_NAMES.map(variableOf)],
  ['docs/reference/cli.md', helpOf([]).commands.map((name) => `raymond ${name}`)],
];

test('the synopsis of cli.md has every command', () => {
  const [synopsis] = readDocument('docs/reference/cli.md').blocks;
  const words = new Set(
    synopsis?.text.split('\n').flatMap((line) => line.slice(0, 35).match(/[a-z]+/g) ?? []),
  );
  expect(helpOf([]).commands.filter((name) => !words.has(name))).toEqual([]);
});

test.each(DESCRIBED)('%s describes every name', (path, names) => {
  const hand = readDocument(path).text.replace(/<!-- generated: [\s\S]*?<!-- end -->/g, '');
  const missing = names.filter((name) => !hand.includes(`\`${name}`));
  expect(missing).toEqual([]);
});

/** The formatter makes the columns of a table equally wide. */
function unpadded(text: string): string {
  const row = (line: string) => line.replace(/ +/g, ' ').replace(/-{3,}/g, '---');
  const lines = text.trim().split('\n');
  return lines.map((line) => (line.startsWith('|') ? row(line) : line)).join('\n');
}

/** Each event with its fields, from the published JSON Schema. */
function events(): readonly { readonly type: string; readonly fields: readonly string[] }[] {
  const { oneOf = [] } = z.toJSONSchema(runEventSchema);
  return oneOf.map(({ properties = {}, required = [] }) => {
    const { type, ...others } = properties;
    const names = Object.keys(others).filter((name) => name !== 'at');
    return {
      type: typeof type === 'object' ? String(type.const) : '',
      fields: names.map((name) => (required.includes(name) ? name : `${name}?`)),
    };
  });
}

interface Help {
  readonly usage: string;
  readonly commands: readonly string[];
  readonly options: readonly (readonly [string, string])[];
}

/** The parsed output of `raymond … --help`. */
function helpOf(command: readonly string[]): Help {
  const args = [BIN, ...command, '--help'];
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const entries = [...stdout.matchAll(/^ {2}(\S.*?)(?: {2,}(.*(?:\n {4,}.*)*))?$/gm)].map(
    ([, term = '', meaning = '']) => [term, meaning.replace(/\s+/g, ' ').trim()] as const,
  );
  return {
    usage: /^Usage: (.*)$/m.exec(stdout)?.[1] ?? '',
    options: entries.filter(([term]) => term.startsWith('-')),
    commands: entries
      .map(([term]) => term.split(/[ |]/)[0] ?? '')
      .filter((name) => /^[a-z]/.test(name) && name !== 'help'),
  };
}

/** The forms of an option on the command line. The form that is not the default comes first. */
function forms(spec: OptionSpec): readonly string[] {
  const { name, kind, placeholder, only, isOn } = spec;
  if (kind !== 'flag') return [`--${name} <${placeholder}>`];
  if (only === 'command-line') return [`--${name}`];
  return isOn ? [`--no-${name}`, `--${name}`] : [`--${name}`, `--no-${name}`];
}

/** The run options have a separate table. */
function commandSection(name: string): string {
  const { usage, options } = helpOf([name]);
  const shared = new Set(COMMAND_LINE_OPTIONS.flatMap(({ name }) => [`--${name}`, `--no-${name}`]));
  const isRun = name === 'run' || name === 'resume';
  const own = options.filter(
    ([term]) => !term.includes('--help') && !(isRun && shared.has(term.split(' ')[0] ?? '')),
  );
  const rows = own.map(([term, meaning]) => [code(term), meaning]);
  return [
    `#### ${name}`,
    '',
    code(usage),
    '',
    ...(rows.length > 0 ? [table(['option', 'meaning'], rows)] : ['']),
  ].join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('');
}

function code(text: string): string {
  return `\`${text}\``;
}
