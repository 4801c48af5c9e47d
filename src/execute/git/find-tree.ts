/** The facts that a fork needs about its repository. These calls of git run no other program. */
import type { Located, TreeFact } from '../../model/input.ts';
import { messageOf } from '../../model/message-of.ts';
import { sameOnDisk } from '../../model/worktree.ts';
import { isObjectId, runGit } from './run-git.ts';

/** `base` as written; the current commit if it is undefined. */
export async function findTree(
  directory: string,
  base: string | undefined,
  { run, folder }: { readonly run: string; readonly folder: string },
): Promise<Located<TreeFact>> {
  try {
    const { repository, place } = await locate(directory);
    const commit = await commitOf(repository, base);
    await checkPlace(repository, commit, place, base);
    const taken = await branchesOf(repository, run);
    return { found: true, repository, base: commit, folder, place, taken };
  } catch (error) {
    return { found: false, problem: messageOf(error) };
  }
}

async function locate(directory: string): Promise<{ repository: string; place: string }> {
  const asked = ['--is-inside-work-tree', '--absolute-git-dir', '--show-prefix'];
  const told = await runGit({ args: ['-C', directory, 'rev-parse', ...asked] }).catch((error) => {
    if (!/not a git repository/.test(error.message)) throw error;
    throw new Error(
      `A worktree needs a git repository, and ${directory} is in none. Create one (git init, git commit), or leave out worktree.`,
    );
  });
  const [isInside, repository, prefix = '', ...more] = told.split('\n');
  if (isInside !== 'true' || repository === undefined)
    throw new Error(
      `A worktree is for agents that work on files of a repository. ${directory} is in a bare repository or in a folder of git.`,
    );
  if (more.length > 1) throw new Error(`${directory} has a line break in its name.`);
  return { repository, place: prefix.replace(/\/$/, '') };
}

async function commitOf(repository: string, base: string | undefined): Promise<string> {
  const commit = await ask(repository, 'rev-parse', '--verify', `${base ?? 'HEAD'}^{commit}`);
  if (commit !== undefined && isObjectId(commit)) return commit;
  throw new Error(
    base === undefined
      ? `The repository ${repository} has no commit yet, so a worktree would be empty. Commit something first.`
      : `base is "${base}", but the repository ${repository} has no such branch, tag or commit.`,
  );
}

async function checkPlace(
  repository: string,
  commit: string,
  place: string,
  base: string | undefined,
): Promise<void> {
  if (place === '') return;
  if ((await ask(repository, 'cat-file', '-t', `${commit}:${place}`)) === 'tree') return;
  throw new Error(
    `The child agent would work in ${place}, but ${base ?? 'the current commit'} has no such folder. Commit it first, or name another directory with cd.`,
  );
}

async function branchesOf(repository: string, run: string): Promise<ReadonlySet<string>> {
  const pattern = `refs/heads/raymond/${run}`;
  const refs = await ask(repository, 'for-each-ref', '--format=%(refname:lstrip=2)', pattern);
  return new Set(refs?.split('\n').map(sameOnDisk));
}

/** Undefined if git fails. */
async function ask(repository: string, ...args: string[]): Promise<string | undefined> {
  const told = await runGit({ args: ['--git-dir', repository, ...args] }).catch(() => undefined);
  return told?.trimEnd();
}
