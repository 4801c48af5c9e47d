/**
 * Compares the recorded files of a run. Git only reads objects: it runs no program that a configuration
 * names, neither a filter nor a textconv nor an external diff.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withParents } from '../../files/walk.ts';
import type { ChangedPath, ComparedFiles, FileComparer, RecordPair } from '../../ports.ts';
import { placeOf, REPOSITORY_FILE, refsOf } from './file-history.ts';
import { inertConfig } from './inert-config.ts';
import { type GitRequest, isObjectId, runGit, tipOf } from './run-git.ts';

export function fileComparer(ofRun: {
  readonly run: string;
  /** It has the private indexes. */
  readonly folder: string;
}): FileComparer {
  const placeIn = (root: string) => join(placeOf(ofRun.folder, root), REPOSITORY_FILE);
  return {
    rootOf: (directory) => withParents(directory).find((folder) => existsSync(placeIn(folder))),
    async compare(root, pairs) {
      const repository = await readFile(placeIn(root), 'utf8');
      const trees = new Trees(repository, ofRun.run);
      for (const id of pairs.flat()) await trees.check(id);
      return comparison(trees, pairs);
    },
    async isMerged(root, branch) {
      const repository = await readFile(placeIn(root), 'utf8').catch(() => undefined);
      if (repository === undefined) return undefined;
      const tip = await tipOf(repository, branch).catch(() => undefined);
      if (tip === undefined) return undefined;
      const args = ['--git-dir', repository, 'merge-base', '--is-ancestor', tip, 'HEAD'];
      // It fails if the commit is no ancestor.
      return runGit({ args, env: await inertConfig(repository) }).then(
        () => true,
        () => false,
      );
    },
  };
}

class Trees {
  readonly #repository: string;
  readonly #run: string;

  constructor(repository: string, run: string) {
    this.#repository = repository;
    this.#run = run;
  }

  /** The ids come from a journal. Only records of the run are read. */
  async check(id: string): Promise<void> {
    if (!isObjectId(id)) throw new Error(`${id} is not the id of files`);
    const told = await this.git({ args: ['for-each-ref', `${refsOf(this.#run)}${id}`] });
    if (told === '') throw new Error('the record of the files is gone');
  }

  async git({ args, ...request }: GitRequest): Promise<string> {
    const env = await inertConfig(this.#repository);
    const settings = ['-c', 'core.attributesFile=/dev/null', '-c', 'core.quotePath=false'];
    const where = ['--git-dir', this.#repository, '--literal-pathspecs', ...settings];
    return runGit({ ...request, env, args: [...where, ...args] });
  }

  /** The paths that differ, in the order of git. */
  async differing(from: string, to: string): Promise<readonly RawChange[]> {
    const told = await this.git({
      args: [...DIFF, '--raw', '-z', '--abbrev=64', from, to],
      isBinary: true,
    });
    return rawChanges(told);
  }

  /** The sizes of objects, by their ids. */
  async sizes(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const told = await this.git({
      args: ['cat-file', '--batch-check'],
      input: `${ids.join('\n')}\n`,
    });
    return new Map(
      told.split('\n').flatMap((line) => {
        const [id = '', , size] = line.split(' ');
        return size === undefined ? [] : [[id, Number(size)] as const];
      }),
    );
  }

  /** The patch of each path, in the order of git. */
  async patches(from: string, to: string, paths: readonly string[]): Promise<readonly string[]> {
    const args = [...DIFF, '-p', '--no-color', from, to, '--', ...paths];
    return (await this.git({ args })).split(/(?<=\n)(?=diff --git )/).filter((one) => one !== '');
  }
}

const DIFF = ['diff-tree', '-r', '-M', '--no-ext-diff', '--no-textconv', '-O/dev/null'];

interface RawChange {
  readonly status: string;
  readonly objects: readonly [before: string, after: string];
  readonly path: string;
  readonly was: string | undefined;
}

function rawChanges(told: string): readonly RawChange[] {
  const parts = told.split('\0');
  const changes: RawChange[] = [];
  for (let at = 0; at < parts.length - 1; ) {
    const [, , before = '', after = '', status = ''] = (parts[at] ?? '').split(' ');
    const isMoved = status.startsWith('R');
    const [first = '', second = ''] = parts.slice(at + 1);
    changes.push({
      status: status.slice(0, 1),
      objects: [before, after],
      path: isMoved ? second : first,
      was: isMoved ? first : undefined,
    });
    at += isMoved ? 3 : 2;
  }
  return changes;
}

/** From the first files to the last ones. If there are gaps, only the paths that the parts have changed. */
async function comparison(trees: Trees, pairs: readonly RecordPair[]): Promise<ComparedFiles> {
  const [from, to] = [pairs[0]?.[0] ?? '', pairs.at(-1)?.[1] ?? ''];
  const all = await trees.differing(from, to);
  const own = pairs.length > 1 ? await pathsIn(trees, pairs) : undefined;
  const wanted = own ? all.filter(({ path, was }) => own.has(path) || own.has(was ?? path)) : all;
  const shown = wanted.slice(0, MOST_FILES);
  const sizes = await trees.sizes(
    [...new Set(shown.flatMap(({ objects }) => objects))].filter((id) => !/^0+$/.test(id)),
  );
  let left = MOST_BYTES;
  const chosen = shown.map((change) => {
    const bytes = change.objects.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
    const name = named(change.path);
    const omitted =
      bytes > MOST_FILE_BYTES || isUnreadable(change) ? 'large' : bytes > left ? 'many' : null;
    if (omitted === null) left -= bytes;
    return { change, name, omitted } as const;
  });
  const readable = chosen.filter(({ omitted }) => omitted === null);
  const paths = readable.flatMap(({ change: { path, was } }) =>
    was === undefined ? [named(path)] : [named(path), named(was)],
  );
  const patches = paths.length > 0 ? await trees.patches(from, to, paths) : [];
  const patchOf = new Map(readable.map(({ change }, index) => [change, patches[index]]));
  return {
    files: chosen.map(({ change, name, omitted }) => {
      const patch = patches.length === readable.length ? patchOf.get(change) : undefined;
      return changedPath(change, name, patch, omitted);
    }),
    more: wanted.length - shown.length,
  };
}

const [MOST_FILES, MOST_FILE_BYTES, MOST_BYTES] = [500, 512 * 1024, 4 * 1024 * 1024];
/** More parts than these are compared as one. */
const MOST_PARTS = 60;

async function pathsIn(
  trees: Trees,
  pairs: readonly RecordPair[],
): Promise<ReadonlySet<string> | undefined> {
  if (pairs.length > MOST_PARTS) return undefined;
  const paths = new Set<string>();
  for (const [from, to] of pairs)
    for (const { path, was } of await trees.differing(from, to)) {
      paths.add(path);
      if (was !== undefined) paths.add(was);
    }
  return paths;
}

const named = (bytes: string) => Buffer.from(bytes, 'latin1').toString('utf8');

/** An argument of a program is UTF-8, so git cannot be asked for another name. */
const isUnreadable = ({ path, was }: RawChange) =>
  [path, was ?? ''].some((name) => Buffer.from(named(name)).toString('latin1') !== name);

const KINDS: Readonly<Record<string, ChangedPath['kind']>> = {
  A: 'added',
  D: 'deleted',
  R: 'moved',
};

function changedPath(
  { status, was }: RawChange,
  path: string,
  patch: string | undefined,
  omitted: ChangedPath['omitted'],
): ChangedPath {
  const [head = '', ...hunks] = (patch ?? '').split(/\n(?=@@ )/);
  const isBinary = /\nBinary files [^\n]* differ\n/.test(head);
  const lines = hunks.flatMap((hunk) => hunk.split('\n'));
  return {
    path,
    was: was === undefined ? null : named(was),
    kind: KINDS[status] ?? 'changed',
    added: lines.filter((line) => line.startsWith('+')).length,
    removed: lines.filter((line) => line.startsWith('-')).length,
    patch: isBinary ? null : (patch ?? null),
    omitted: isBinary ? 'binary' : patch === undefined ? (omitted ?? 'large') : null,
  };
}
