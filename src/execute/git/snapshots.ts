/**
 * INV-37: A snapshot has what another machine needs to continue in a working tree: files, branches with
 * their commits, and HEAD. Ignored files, the index and stashes are never sent.
 *
 * A snapshot is a commit under `refs/raymond/<run>/`. Its tree are the files, its parents are the branches,
 * and its message says which is which. Equal states give equal commits.
 */
import { existsSync } from 'node:fs';
import { lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import type { FileHistory } from '../../ports.ts';
import { refsOf } from './file-history.ts';
import { removeLocks } from './git-remains.ts';
import { inertConfig } from './inert-config.ts';
import { fetch, push, type Remote, transferFolder, withoutSecrets } from './remote.ts';
import { gitFolders, isObjectId, runGit } from './run-git.ts';

export interface SnapshotsOfRun {
  readonly run: string;
  readonly remote: Remote;
  readonly files: FileHistory;
}

/** Takes a snapshot of a working tree and sends it to the remote. A user's own branches stay at home. */
export async function takeSnapshot(
  { run, remote, files }: SnapshotsOfRun,
  root: string,
  branches: 'all' | 'current',
  /** A snapshot that the remote has. */
  known?: string,
): Promise<string> {
  const { shared, git } = await repositoryOf(root);
  const tree = await files.record(root);
  const env = await inertConfig(shared);
  const state = await stateOf(git, branches);
  const tips = [...new Set([...Object.values(state.heads), ...commitOf(state.head)])];
  const parents = tips.flatMap((tip) => ['-p', tip]);
  const args = ['commit-tree', ...parents, '-F', '-', tree];
  const input = `Files of the run ${run}\n\n${JSON.stringify(state)}\n`;
  const commit = (await git(args, { input, env: { ...env, ...AUTHOR } })).trim();
  if (commit === known) return commit;
  const ref = refOf(run, commit);
  await git(['update-ref', ref, commit], { env });
  await push(remote, shared, commit, ref);
  return commit;
}

/**
 * Brings a working tree to a snapshot. Makes the tree if it does not exist. All of it belongs to the run,
 * and no step works in it.
 */
export async function bringSnapshot(
  { run, remote, files }: SnapshotsOfRun,
  root: string,
  snapshot: string,
): Promise<void> {
  if (!isObjectId(snapshot)) throw new Error(`${snapshot} is not a snapshot`);
  // A killed `git init` may have left a part of it.
  if (!existsSync(`${root}/.git/HEAD`) || !(await isClone(root))) await makeClone(remote, root);
  const { shared, git } = await repositoryOf(root);
  // When a step is stopped, its git is killed, too.
  await removeLocks(shared);
  const env = await inertConfig(shared);
  const ref = refOf(run, snapshot);
  const isHere = await git(['cat-file', '-e', `${snapshot}^{tree}`]).then(
    () => true,
    () => false,
  );
  if (!isHere) await fetch(remote, shared, ref);
  await git(['update-ref', ref, snapshot], { env });
  // Not `git log`, which may run a program that checks signatures.
  const state = readState(await git(['cat-file', 'commit', snapshot]));
  const tree = (await git(['rev-parse', '--verify', `${snapshot}^{tree}`])).trim();
  await git(['update-ref', refOf(run, tree), tree], { env });
  await setHead(git, state, env);
  await files.restore(root, tree);
  await setIndex(git, state, env);
}

/**
 * Whether the repository of a clone is its own. An agent can write a file into it that leads git to
 * another one, in which Raymond would then change branches.
 */
export async function isClone(root: string): Promise<boolean> {
  const own = join(await realpath(root), '.git');
  const isFolder = (await lstat(own)).isDirectory();
  return isFolder && !existsSync(join(own, 'commondir'));
}

const refOf = (run: string, id: string) => `${refsOf(run)}${id}`;

const AUTHOR = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((who) => [
    [`GIT_${who}_NAME`, 'Raymond'],
    [`GIT_${who}_EMAIL`, 'raymond@localhost'],
    // A fixed time, so that equal states give equal commits.
    [`GIT_${who}_DATE`, '2000-01-01T00:00:00Z'],
  ]),
);

const id = z.string().check(z.refine(isObjectId));
const branch = z.string().check(z.regex(/^refs\/heads\/[^\s~^:?*[\\]+$/));
const stateSchema = z.object({
  /** A branch, which may have no commit yet, or a commit. */
  head: z.union([id, branch]),
  heads: z.record(branch, id),
});

type State = z.infer<typeof stateSchema>;
type Git = (
  args: readonly string[],
  more?: { readonly input?: string; readonly env?: Readonly<Record<string, string>> },
) => Promise<string>;

async function repositoryOf(root: string): Promise<{ shared: string; git: Git }> {
  const { own, shared } = await gitFolders('-C', root);
  const where = ['-C', root, '--git-dir', own, '--work-tree', root];
  return { shared, git: (args, more) => runGit({ args: [...where, ...args], ...more }) };
}

async function stateOf(git: Git, branches: 'all' | 'current'): Promise<State> {
  const named = await git(['symbolic-ref', '--quiet', 'HEAD']).catch(() => '');
  const head = named.trim() || (await git(['rev-parse', '--verify', 'HEAD'])).trim();
  const which = branches === 'all' ? 'refs/heads/' : head;
  const listed = await git(['for-each-ref', '--format=%(refname) %(objectname)', which]);
  const heads = listed.split('\n').flatMap((line) => {
    const [name = '', tip = ''] = line.split(' ');
    return tip === '' ? [] : [[name, tip] as const];
  });
  return { head, heads: Object.fromEntries(heads) };
}

const commitOf = (head: string) => (head.startsWith('refs/') ? [] : [head]);

function readState(message: string): State {
  const line = message.split('\n').find((text) => text.startsWith('{')) ?? '';
  return z.parse(stateSchema, JSON.parse(line));
}

async function makeClone(remote: Remote, root: string): Promise<void> {
  await rm(transferFolder(remote.folder), { recursive: true, force: true });
  await rm(join(root, '.git'), { recursive: true, force: true });
  await mkdir(root, { recursive: true, mode: 0o700 });
  await runGit({ args: ['init', '--quiet', '--template=', root] });
  const origin = ['-C', root, 'config', 'remote.origin.url', withoutSecrets(remote.url)];
  await runGit({ args: origin });
}

/** Also removes branches that the snapshot does not have. */
async function setHead(
  git: Git,
  { head, heads }: State,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  // Otherwise git refuses to delete or to move the branch that is checked out.
  const detached = await git(['rev-parse', '--verify', '--quiet', 'HEAD']).catch(() => '');
  if (detached !== '') await git(['update-ref', '--no-deref', 'HEAD', detached.trim()], { env });
  const listed = await git(['for-each-ref', '--format=%(refname)', 'refs/heads/']);
  const extra = listed.split('\n').filter((name) => name !== '' && !(name in heads));
  const input = [
    ...extra.map((name) => `delete ${name}\n`),
    ...Object.entries(heads).map(([name, tip]) => `update ${name} ${tip}\n`),
  ].join('');
  await git(['update-ref', '--no-deref', '--stdin'], { input, env });
  if (head.startsWith('refs/')) await git(['symbolic-ref', 'HEAD', head], { env });
  else await git(['update-ref', '--no-deref', 'HEAD', head], { env });
}

/** The index of the agent says what HEAD says. Nothing is staged. */
async function setIndex(
  git: Git,
  { head, heads }: State,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const commit = head.startsWith('refs/') ? heads[head] : head;
  await git(['read-tree', ...(commit === undefined ? ['--empty'] : [commit])], { env });
  await git(['update-index', '-q', '--refresh'], { env }).catch(() => '');
}
