/**
 * The secrets of the user. A secret is in a file of the user's state folder, in the section `[secrets]` of the
 * user's config file, or a variable of this process with the same name. No project can say where one is.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cleaner } from '../execute/secrets/cleaner.ts';
import {
  readSecret,
  type SecretSource,
  type SecretValue,
  secretProblem,
  sourceText,
} from '../execute/secrets/source.ts';
import { namedSecrets } from '../interpret/rights.ts';
import { hasCode, realDisk, replaceFile } from '../journal/disk.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { isSecretName } from '../parse/rights.ts';
import { variableProblem } from '../parse/variables.ts';
import type { SecretValues } from '../ports.ts';
import { readUserSecrets } from './config/configuration.ts';
import { checkOwn, makeOwnFolder, userStateFolder } from './config/user-folders.ts';

export interface KnownSecret {
  readonly name: string;
  /** In the words of a person. */
  readonly from: string;
  /** Whether `raymond secret remove` can remove it. */
  readonly isStored: boolean;
}

/** Those that the user has set or configured, by name. Values are not read. */
export async function knownSecrets(): Promise<readonly KnownSecret[]> {
  const configured = await readUserSecrets();
  const stored = await storedNames();
  const all = [
    ...[...configured].map(([name, source]) => ({
      ...{ name, from: `${sourceText(source)}, in your configuration` },
      isStored: stored.includes(name),
    })),
    ...stored
      .filter((name) => !configured.has(name))
      .map((name) => ({ name, from: 'raymond secret set', isStored: true })),
  ];
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function storeSecret(name: string, value: string): Promise<void> {
  checkName(name);
  const problem = secretProblem(value);
  if (problem)
    throw new UserError('bad-secret', `The value of ${name} ${problem}.`, 'Give another value.');
  await makeOwnFolder(userStateFolder());
  await makeOwnFolder(storeFolder());
  await replaceFile(realDisk, fileOf(name), value);
}

/** Returns whether there was one. */
export async function removeSecret(name: string): Promise<boolean> {
  checkName(name);
  try {
    await realDisk.unlink(fileOf(name));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

export function checkName(name: string): void {
  const problem = variableProblem(name);
  if (problem) throw new UserError('bad-secret', `${problem}.`, 'Name it like GH_TOKEN.');
}

/** The secrets for the steps of a run, and the environment of its steps without them. */
export interface RunSecrets extends SecretValues {
  /** The problem of each secret that has no value, by name. Asks all sources. */
  problems(names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The value of a secret that is ready. */
  valueOf(name: string): string;
}

export function runSecrets(environment: NodeJS.ProcessEnv = process.env): RunSecrets {
  const known = new Map<string, { readonly value: string; readonly at: number }>();
  const problemOf = async (name: string) => {
    const found = known.get(name);
    if (found && Date.now() - found.at < FRESH_MS) return undefined;
    const read = await readValue(name, environment);
    if ('problem' in read) return read.problem;
    known.set(name, { value: read.value, at: Date.now() });
    return undefined;
  };
  const problems = async (names: readonly string[]) => {
    const all = new Map<string, string>();
    for (const name of names) {
      const problem = await problemOf(name);
      if (problem !== undefined) all.set(name, problem);
    }
    return all;
  };
  return {
    problems,
    async ready(names) {
      const [first] = await problems(names);
      return first && `${missingText(...first)} ${remedyFor(first[0])}`;
    },
    clean(names, bytes) {
      if (!names.every((name) => known.has(name))) return undefined;
      const { push, end } = cleaner(new Map([...known].map(([name, { value }]) => [name, value])));
      return Buffer.concat([push(Buffer.from(bytes)), end()]);
    },
    valueOf(name) {
      const found = known.get(name);
      if (found) return found.value;
      throw new Error(`The secret ${name} has no value. ${remedyFor(name)}`);
    },
  };
}

/** A token may expire in a long run, and a command may ask the person each time. */
const FRESH_MS = 10 * 60_000;

export const missingText = (name: string, problem: string): string =>
  `The secret ${name} cannot be used: ${problem}.`;

export const remedyFor = (name: string): string => `Set it with: raymond secret set ${name}`;

/** No step has these variables, except for those whose rights name them. */
export async function withoutSecrets(
  environment: NodeJS.ProcessEnv,
  workflows: readonly Workflow[],
): Promise<NodeJS.ProcessEnv> {
  const named = workflows.flatMap(namedSecrets);
  const known = (await knownSecrets()).map(({ name }) => name);
  const variables = [...(await readUserSecrets()).values()].flatMap((source) =>
    source.kind === 'variable' ? [source.name] : [],
  );
  const hidden = new Set([...named, ...known, ...variables]);
  const kept = Object.entries(environment).filter(([name]) => !hidden.has(name));
  return Object.fromEntries(kept);
}

async function readValue(name: string, environment: NodeJS.ProcessEnv): Promise<SecretValue> {
  const configured = (await readUserSecrets()).get(name);
  if (configured) return readSecret(configured, environment);
  if (isSecretName(name) && (await storedNames()).includes(name)) {
    await checkOwn(fileOf(name));
    return readSecret({ kind: 'file', path: fileOf(name) }, environment);
  }
  const inherited: SecretSource = { kind: 'variable', name };
  if (environment[name] !== undefined) return readSecret(inherited, environment);
  return { problem: 'it does not exist' };
}

const storeFolder = () => join(userStateFolder(), 'secrets');

const fileOf = (name: string) => join(storeFolder(), name);

async function storedNames(): Promise<readonly string[]> {
  await checkOwn(storeFolder());
  const names = await readdir(storeFolder()).catch((error) => {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  });
  return names.filter(isSecretName);
}
