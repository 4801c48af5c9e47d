/** Everything that belongs to a run and to the working tree of its user, byte for byte, with its times. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface OwnedByRun {
  /** The folder with `.raymond` and `.git`. */
  readonly folder: string;
  readonly run: string;
  /** Further files and folders, such as transcripts. */
  readonly also?: readonly string[];
}

/** What a variant must leave alone. Branches, records and worktrees of other runs are no part of it. */
export function bytesOfRun({
  folder,
  run,
  also = [],
}: OwnedByRun): Readonly<Record<string, string>> {
  const git = (...args: string[]) =>
    existsSync(join(folder, '.git/objects'))
      ? execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8' })
      : '';
  const isOther = (ref: string) =>
    /refs\/(?:heads\/)?raymond\//.test(ref) && !ref.includes(`/raymond/${run}/`);
  const state = join(folder, '.raymond/state');
  const files = [
    ...filesIn(folder, (path) => path !== '.git' && path !== '.raymond'),
    ...readdirSync(state).flatMap((name) => (isOf(name, run) ? [join(state, name)] : [])),
    ...filesIn(join(folder, '.raymond/runs', run)),
    ...filesIn(join(folder, '.raymond/worktrees', run)),
    ...debugFolders(folder, run).flatMap((path) => filesIn(path)),
    ...['HEAD', 'index', 'config', 'logs/HEAD', 'ORIG_HEAD', 'packed-refs'].map((name) =>
      join(folder, '.git', name),
    ),
    ...also.flatMap((path) => (lstatSync(path).isDirectory() ? filesIn(path) : [path])),
  ];
  const refs = git('for-each-ref', '--format=%(refname) %(objectname)').split('\n');
  return {
    ...Object.fromEntries(
      files.filter((path) => existsSync(path)).map((path) => [path, seen(path)]),
    ),
    refs: refs.filter((ref) => !isOther(ref)).join('\n'),
    stashes: git('stash', 'list'),
  };
}

const isOf = (name: string, run: string) => name.startsWith(`${run}.`);

function debugFolders(folder: string, run: string): readonly string[] {
  const debug = join(folder, '.raymond/debug');
  const names = existsSync(debug) ? readdirSync(debug) : [];
  return names.filter((name) => name.startsWith(`${run}_`)).map((name) => join(debug, name));
}

function filesIn(folder: string, isWanted: (name: string) => boolean = () => true): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (!isWanted(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

function seen(path: string): string {
  const { mtimeMs, mode } = lstatSync(path);
  const bytes = lstatSync(path).isFile() ? readFileSync(path) : Buffer.from('');
  return `${createHash('sha256').update(bytes).digest('hex')} ${mode} ${mtimeMs}`;
}
