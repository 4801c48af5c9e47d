import { parse, TomlError } from 'smol-toml';
import { readRegularFile } from '../files/regular-file.ts';
import { reasonOf } from '../journal/journal-errors.ts';
import { UserError } from '../model/user-error.ts';
import { nearest } from '../parse/nearest.ts';
import {
  CLAUDE_PATH,
  camelCase,
  type OptionSpec,
  optionProblem,
  RUN_OPTIONS,
  type RunOptions,
} from './options.ts';

export const CONFIG_OPTIONS: readonly OptionSpec[] = [
  ...RUN_OPTIONS.filter((spec) => !spec.notInConfig),
  CLAUDE_PATH,
];

/** What a project's config file says; nothing when there is none. */
export async function readConfigFile(file: string): Promise<RunOptions> {
  let text: string;
  try {
    text = (await readRegularFile(file, MAX_CONFIG_BYTES)).toString('utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new UserError(
      'config',
      `${file} cannot be read: ${reasonOf(error)}.`,
      'Make it readable, or remove it.',
    );
  }
  return readConfig(file, text);
}

const MAX_CONFIG_BYTES = 1024 * 1024;

export function readConfig(file: string, text: string): RunOptions {
  const table = parseToml(file, text);
  for (const key of Object.keys(table)) {
    if (key === 'raymond') continue;
    throw wrong(
      file,
      text,
      key,
      `has "${key}" outside of [raymond]`,
      `Put it under [raymond], or remove it.`,
    );
  }
  const section = table.raymond ?? {};
  if (typeof section !== 'object' || Array.isArray(section)) {
    throw wrong(
      file,
      text,
      'raymond',
      'has no section [raymond]',
      'Write [raymond] above the keys.',
    );
  }
  return Object.fromEntries(
    Object.entries(section).map(([key, value]) => readKey(file, text, key, value)),
  );
}

/** A config file with every option in it, commented out. */
export function configTemplate(): string {
  const lines = CONFIG_OPTIONS.flatMap((spec) => [
    '',
    `# ${spec.meaning}`,
    `# ${configKey(spec)} = ${spec.example}`,
  ]);
  return [
    '# Options for every run of this project. The command line wins.',
    '',
    '[raymond]',
    ...lines,
    '',
  ].join('\n');
}

/** An option's name in the file. */
export const configKey = (spec: OptionSpec): string => spec.name.replaceAll('-', '_');

function parseToml(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? '';
    throw new UserError('config', `${file}, line ${error.line}: ${what}.`, 'Correct the line.');
  }
}

function readKey(file: string, text: string, key: string, value: unknown): [string, unknown] {
  const spec = CONFIG_OPTIONS.find((option) => configKey(option) === key);
  if (!spec) {
    const near = nearest(key, CONFIG_OPTIONS.map(configKey));
    throw wrong(
      file,
      text,
      key,
      `has an unknown key "${key}"`,
      near ? `Did you mean ${near}?` : 'Remove it.',
    );
  }
  const expected =
    typeProblem(spec, value) ??
    (spec.kind === 'list' || spec.kind === 'flag' ? undefined : optionProblem(spec, String(value)));
  if (expected)
    throw wrong(
      file,
      text,
      key,
      `has a wrong value for ${key}`,
      `${expected.charAt(0).toUpperCase()}${expected.slice(1)}, like ${spec.example}.`,
    );
  return [camelCase(spec.name), value];
}

function typeProblem({ kind }: OptionSpec, value: unknown): string | undefined {
  switch (kind) {
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'write true or false';
    case 'number':
    case 'count':
      return typeof value === 'number' ? undefined : 'write a number';
    case 'text':
      return typeof value === 'string' ? undefined : 'write a text in quotes';
    case 'list':
      return Array.isArray(value) && value.every((item) => typeof item === 'string')
        ? undefined
        : 'write a list of texts';
  }
}

function wrong(file: string, text: string, key: string, what: string, remedy: string): UserError {
  return new UserError('config', `${file}, line ${lineOf(text, key)}, ${what}.`, remedy);
}

/** The TOML reader gives no positions of keys, but a key begins its line. */
function lineOf(text: string, key: string): number {
  const index = text.split('\n').findIndex((line) => line.replace(/["'\s[]/g, '').startsWith(key));
  return index + 1;
}
