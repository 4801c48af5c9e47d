/** What the variants of a run change: every combination of the wished values is one variation. */
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { NamedBytes } from '../files/packed-files.ts';
import { readFileWithin, readRegularFile } from '../files/regular-file.ts';
import { hasOwn } from '../load/fingerprints.ts';
import type { Choices } from '../model/agent.ts';
import { messageOf } from '../model/message-of.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import type { Workflow } from '../model/workflow.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import { nearest } from '../parse/nearest.ts';
import { isStateFile, stemOf } from '../parse/state.ts';

export interface WishedVariations {
  /** Files with other texts of states, as `FILE` or `STATE=FILE`, or folders with several of them. */
  readonly with?: readonly string[] | undefined;
  readonly model?: readonly string[] | undefined;
  readonly effort?: readonly string[] | undefined;
  readonly agent?: readonly string[] | undefined;
  /** Values that the step receives in place of its own. */
  readonly input?: readonly string[] | undefined;
}

export interface Variation {
  /** For people, by the names of the options. */
  readonly changes: Readonly<Record<string, string>>;
  /** Other texts of states. */
  readonly files: readonly NamedBytes[];
  /** For the agents that take the prompts. */
  readonly choices: Choices;
  /** The name of the agent, if it is another one. */
  readonly agent: string | undefined;
  readonly input: string | undefined;
}

/** `workflow` is the one that the step belongs to. Throws a UserError for files that change no state of it. */
export async function variationsOf(
  wished: WishedVariations,
  workflow: Pick<Workflow, 'states' | 'name'>,
  cwd: string,
): Promise<readonly Variation[]> {
  const replaced: (readonly [string, readonly NamedBytes[]])[] = [];
  for (const named of wished.with ?? [])
    replaced.push([named, await replacementsIn(named, workflow, cwd)]);
  const all = combined([
    alternatives(replaced, ([named, files]) => ({ changes: { with: shortName(named) }, files })),
    alternatives(wished.agent, (agent) => ({ changes: { agent }, agent })),
    alternatives(wished.model, (model) => ({ changes: { model }, choices: { model } })),
    alternatives(wished.effort, (effort) => ({ changes: { effort }, choices: { effort } })),
    alternatives(wished.input, (input) => ({ changes: { input }, input })),
  ]);
  const known = new Set<string>();
  return all.filter((one) => {
    const key = variationKey(one);
    const isNew = !known.has(key);
    known.add(key);
    return isNew;
  });
}

/** Differs between variations that differ in anything that has an effect. */
export function variationKey({ files, choices, agent, input }: Variation): string {
  const hashes = files.map(({ name, bytes }) => [name, sha256(bytes)]);
  return JSON.stringify([hashes.toSorted(), choices, agent ?? null, input ?? null]);
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

export const UNCHANGED: Variation = {
  changes: {},
  files: [],
  choices: {},
  agent: undefined,
  input: undefined,
};

function alternatives<T>(
  values: readonly T[] | undefined,
  change: (value: T) => Partial<Variation>,
): readonly Partial<Variation>[] {
  return values && values.length > 0 ? values.map(change) : [{}];
}

function combined(all: readonly (readonly Partial<Variation>[])[]): readonly Variation[] {
  return all.reduce<readonly Variation[]>(
    (before, next) =>
      before.flatMap((one) =>
        next.map((more) => ({
          ...one,
          ...more,
          changes: { ...one.changes, ...more.changes },
          choices: { ...one.choices, ...more.choices },
        })),
      ),
    [UNCHANGED],
  );
}

export const shortName = (named: string) =>
  named.replace(/\/+$/, '').split('/').slice(-2).join('/');

/** The texts of states in a file or a folder, as `FILE` or `STATE=FILE`. */
export async function replacementsIn(
  named: string,
  workflow: Pick<Workflow, 'states' | 'name'>,
  cwd: string,
): Promise<readonly NamedBytes[]> {
  const [, state, given = named] = /^([^=/]+)=(.+)$/s.exec(named) ?? [];
  const path = resolve(cwd, given);
  try {
    if ((await stat(path)).isDirectory()) return await filesOfFolder(path, named);
    const bytes = await readRegularFile(path, MOST_BYTES);
    return [{ name: stateFile(state ?? basename(path), path, workflow), bytes }];
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw wrongUsage(
      `${given} cannot be read: ${messageOf(error)}.`,
      'Name a file with the text of a state, or a folder with several.',
    );
  }
}

async function filesOfFolder(path: string, named: string): Promise<readonly NamedBytes[]> {
  const names = (await readdir(path)).filter(hasOwn).sort();
  if (names.length === 0)
    throw wrongUsage(
      `${named} has no file of a workflow.`,
      'Put the changed states into it, such as REVIEW.md.',
    );
  const files: NamedBytes[] = [];
  for (const name of names)
    files.push({ name, bytes: await readFileWithin(path, name, MOST_BYTES) });
  return files;
}

/** A single file must replace a state: a new state alone would have no effect. */
function stateFile(
  wanted: string,
  path: string,
  { states, name }: Pick<Workflow, 'states' | 'name'>,
): string {
  const files = [...states.values()].flatMap((state) =>
    'place' in state ? [state.place.file] : [state.name],
  );
  const found = files.find((file) => file === wanted || stemOf(file) === stemOf(wanted));
  if (found !== undefined && isStateFile(found)) return found;
  const near = nearest(stemOf(wanted), files.map(stemOf));
  throw wrongUsage(
    `${name} has no state ${stemOf(wanted)}, so ${basename(path)} changes nothing.`,
    `Name the state: --with ${shellWord(`${near ?? 'STATE'}=${path}`)}`,
  );
}

const MOST_BYTES = 16 * 1024 * 1024;
