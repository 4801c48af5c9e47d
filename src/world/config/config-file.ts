import { dirname } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import type { SecretSource } from '../../execute/secrets/source.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { reasonOf } from '../../journal/disk-errors.ts';
import { UserError } from '../../model/user-error.ts';
import { fromValues, type TableRow } from '../../options/chosen-options.ts';
import { configKey, configKeys, isNegated } from '../../options/option-names.ts';
import { valueProblem } from '../../options/option-schema.ts';
import { asRemedy } from '../../options/option-values.ts';
import type { RunOptions } from '../../options/run-options.ts';
import { nearest } from '../../parse/nearest.ts';
import { readAgentsSection } from './agents-section.ts';
import { CONFIG_OPTIONS } from './option-table.ts';
import { readSecretsSection } from './secrets-section.ts';
import { lineOfKey } from './toml-lines.ts';

export interface ConfigFile {
  /** Undefined if the file does not exist. */
  readonly text: string | undefined;
  readonly options: RunOptions;
  /** Only the user's own file has some. */
  readonly secrets?: ReadonlyMap<string, SecretSource>;
}

/** Relative paths of programs in it start at `folder`. */
export async function readConfigFile(
  file: string,
  folder: string,
  whose: 'user' | 'project' = 'project',
): Promise<ConfigFile> {
  let text: string;
  try {
    text = (await readRegularFile(file, MAX_CONFIG_BYTES)).toString('utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      return { text: undefined, options: {} };
    throw new UserError(
      'config',
      `${file} cannot be read: ${reasonOf(error)}.`,
      'Make it readable, or remove it.',
      { file },
    );
  }
  return { text, ...readAll(file, text, folder, whose) };
}

const MAX_CONFIG_BYTES = 1024 * 1024;

export function readConfig(
  file: string,
  text: string,
  folder = dirname(file),
  whose: 'user' | 'project' = 'project',
): RunOptions {
  return readAll(file, text, folder, whose).options;
}

function readAll(
  file: string,
  text: string,
  folder: string,
  whose: 'user' | 'project',
): Pick<ConfigFile, 'options' | 'secrets'> {
  const table = parseToml(file, text);
  for (const key of Object.keys(table)) {
    if (key === 'raymond' || key === 'agents') continue;
    if (key === 'secrets' && whose === 'user') continue;
    if (key === 'secrets')
      throw wrong(
        file,
        text,
        [key],
        'says where your secrets are, which only your own config file may do',
        'Remove [secrets] here. If it is right, move it to config.toml in your own configuration folder.',
      );
    throw wrong(
      file,
      text,
      [key],
      `has "${key}" outside of [raymond]`,
      `Move it under [raymond], or remove it.`,
    );
  }
  const section = table.raymond ?? {};
  if (typeof section !== 'object' || Array.isArray(section)) {
    throw wrong(
      file,
      text,
      ['raymond'],
      'has no section [raymond]',
      'Write [raymond] above the keys.',
    );
  }
  const values = new Map<TableRow, unknown>();
  for (const [key, value] of Object.entries(section)) {
    const [row, read] = readKey(file, text, key, value);
    if (values.has(row)) throw twice(file, text, key);
    values.set(row, read);
  }
  const options = fromValues(values);
  const refuse = (path: readonly string[], fact: string, remedy: string): never => {
    throw wrong(file, text, path, fact, remedy);
  };
  const agents =
    table.agents === undefined ? undefined : readAgentsSection(table.agents, folder, refuse);
  const secrets =
    table.secrets === undefined ? undefined : readSecretsSection(table.secrets, refuse);
  return { options: { ...options, ...(agents && { agents }) }, ...(secrets && { secrets }) };
}

/** A config file with every option in it, commented out. */
export function configTemplate(): string {
  const lines = CONFIG_OPTIONS.flatMap((spec) => [
    '',
    `# ${spec.meaning}`,
    `# ${configKey(spec)} = ${spec.example}`,
  ]);
  return [
    '# Options for every run of this project. The command line overrides them.',
    '',
    '[raymond]',
    ...lines,
    '',
  ].join('\n');
}

function parseToml(file: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = error.message.split('\n')[0]?.replace(/^Invalid TOML document: /, '') ?? '';
    const { line, column } = error;
    throw new UserError('config', `${file}, line ${line}: ${what}.`, 'Fix the line.', {
      file,
      line,
      column,
    });
  }
}

function readKey(file: string, text: string, key: string, value: unknown): [TableRow, unknown] {
  const spec = CONFIG_OPTIONS.find((option) => configKeys(option).includes(key));
  if (!spec) {
    const near = nearest(key, CONFIG_OPTIONS.flatMap(configKeys));
    throw wrong(
      file,
      text,
      ['raymond', key],
      `has an unknown key "${key}"`,
      near ? `Did you mean ${near}?` : 'Remove it.',
    );
  }
  const expected = valueProblem(spec, value);
  if (expected)
    throw wrong(
      file,
      text,
      ['raymond', key],
      `has a wrong value for ${key}`,
      asRemedy(expected, spec.example),
    );
  return [spec, isNegated(spec, key) ? !value : value];
}

function twice(file: string, text: string, key: string): UserError {
  const other = key.startsWith('no_') ? key.slice(3) : `no_${key}`;
  return wrong(file, text, ['raymond', key], `has both ${key} and ${other}`, 'Keep one of them.');
}

function wrong(
  file: string,
  text: string,
  path: readonly string[],
  what: string,
  remedy: string,
): UserError {
  const line = lineOfKey(text, path);
  return new UserError('config', `${file}, line ${line}, ${what}.`, remedy, { file, line });
}
