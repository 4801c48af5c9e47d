/** The rights of a state, as an author writes them. */
import type { Network, Rights } from '../model/rights.ts';
import { variableProblem } from './variables.ts';
import { type Field, type Item, YamlReader } from './yaml-reader.ts';

const KEYS = {
  write: (reader, field) => ({ write: paths(reader, field, outside) }),
  hide: (reader, field) => ({ hide: paths(reader, field) }),
  network: (reader, field) => ({ network: network(reader, field) }),
  secrets: (reader, field) => ({ secrets: secrets(reader, field) }),
} satisfies Readonly<Record<string, ReadKey>>;

export type RightsKey = keyof typeof KEYS;

export function readRights(reader: YamlReader, item: Item): Rights | undefined {
  const fields = reader.fields(item, 'rights', 'a map like { write: [src], network: none }');
  if (!fields) return undefined;
  let rights: Rights = {};
  for (const field of fields) {
    const read = READERS.get(field.key);
    // A misspelt key would give more rights than the author meant.
    if (read) rights = { ...rights, ...read(reader, field) };
    else reader.unknownKey(field, READERS.keys(), 'rights', 'error');
  }
  return rights;
}

/** The value of `--rights` or of a config file. Returns what is wrong with it as a text. */
export function rightsIn(text: string): Rights | string {
  const reader = new YamlReader('rights', text);
  const rights = reader.errorCount() > 0 ? undefined : readRights(reader, reader.root);
  const fault = reader.takeFaults().find(({ severity }) => severity === 'error');
  if (rights && !fault) return rights;
  return fault ? [fault.message, fault.remedy].filter(Boolean).join(' ') : 'It says nothing.';
}

/** A host, or a pattern of hosts. */
export interface Host {
  readonly name: string;
  readonly port: string | undefined;
}

/** Undefined if the text names no host. */
export function readHost(text: string): Host | undefined {
  const { name, port } = HOST.exec(text.toLowerCase())?.groups ?? {};
  return name === undefined || Number(port ?? 0) > 65_535 ? undefined : { name, port };
}

/** A name, a name after `*.`, an IPv4 address, or an IPv6 address in brackets; then perhaps a port. */
const HOST =
  /^(?<name>(?:\*\.)?(?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:.]+\])(?::(?<port>[1-9]\d{0,4}))?$/;

/** Whether all hosts of a pattern are hosts of another one. Ports are not compared. */
export function covers(wide: Host, narrow: Host): boolean {
  if (wide.name === narrow.name) return true;
  return wide.name.startsWith('*.') && narrow.name.endsWith(wide.name.slice(1));
}

/** Whether one of the patterns has the host. */
export function isHostIn(patterns: readonly string[], host: string): boolean {
  const narrow = readHost(host);
  return patterns.some((one) => {
    const wide = readHost(one);
    const isPort = !wide?.port || !narrow?.port || wide.port === narrow.port;
    return wide && narrow ? isPort && covers(wide, narrow) : false;
  });
}

type ReadKey = (reader: YamlReader, field: Field) => Rights;

const READERS: ReadonlyMap<string, ReadKey> = new Map<string, ReadKey>(Object.entries(KEYS));

function paths(reader: YamlReader, field: Field, look?: Look): readonly string[] {
  return texts(reader, field, 'a list of paths, like [src, ~/notes]', isPath, look);
}

type Look = (reader: YamlReader, item: Item, text: string) => void;

/** A path that is written by mistake allows nothing, or more than its author thinks. */
function outside(reader: YamlReader, { offset }: Item, path: string): void {
  if (/^[/~]/.test(path))
    reader.note(offset, {
      severity: 'note',
      code: 'rights-outside',
      message: `rights.write has ${path}, which is outside of the project.`,
      remedy: 'Check that steps may change it, on every machine that runs the workflow.',
    });
  else if (leaves(path))
    reader.warn('rights-nowhere', offset, `rights.write has ${path}, which allows nothing.`, {
      remedy: 'A relative path must stay in the directory of the agent. Write the whole path.',
    });
}

function leaves(path: string): boolean {
  let depth = 0;
  for (const part of path.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

/** The home folder of another user has no meaning here. */
const isPath = (text: string) => text !== '' && !text.includes('\0') && !/^~[^/]/.test(text);

function network(reader: YamlReader, field: Field): Network {
  const expected = 'none, all, or a list of hosts like [api.github.com, "*.npmjs.org:443"]';
  if (reader.isList(field)) return texts(reader, field, expected, (text) => !!readHost(text));
  const word = reader.text(field, 'network', expected);
  if (word === 'none' || word === 'all') return word;
  if (word !== undefined) reader.mismatch(field, 'network', expected);
  return 'none';
}

/** They become variables, so a name must not change how programs run. */
function secrets(reader: YamlReader, field: Field): readonly string[] {
  const expected = 'a list of names, like [GH_TOKEN]';
  return texts(reader, field, expected, isSecretName).filter(isSecretName);
}

export const isSecretName = (name: string): boolean => variableProblem(name) === undefined;

/** A key without a value allows nothing. */
function texts(
  reader: YamlReader,
  field: Field,
  expected: string,
  isGood: (text: string) => boolean,
  look?: Look,
): readonly string[] {
  const items = reader.isEmpty(field) ? [] : (reader.items(field, field.key, expected) ?? []);
  return items.flatMap((item) => {
    const text = reader.text(item, `An entry of ${field.key}`, expected);
    if (text === undefined) return [];
    if (isGood(text)) look?.(reader, item, text);
    else reader.mismatch(item, `An entry of ${field.key}`, expected);
    return [text];
  });
}
