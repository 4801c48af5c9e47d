/** The git repository of a test. It uses no configuration and no hooks of the user. */
import { appendFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withSettings } from '../execute/git/inert-config.ts';
import { runGit } from '../execute/git/run-git.ts';
import { NO_CONFIG } from '../execute/git/scratch-repository.ts';
import { messageOf } from '../model/message-of.ts';
import { UserError } from '../model/user-error.ts';
import type { WorkflowTest } from '../parse/test-file.ts';
import { putFiles } from './project-files.ts';

/** Makes the project folder of a test a repository. Its files are the first commit, on `main`. */
export async function makeRepository(
  folder: string,
  commits: NonNullable<WorkflowTest['git']>,
): Promise<void> {
  await git(folder, 'init', '-q', '-b', MAIN, '--template=', folder);
  const own = join(folder, '.git');
  await appendFile(join(own, 'config'), CONFIG);
  await mkdir(join(own, 'info'), { mode: 0o700 });
  // Of the worktrees, as in a project with runs.
  await mkdir(join(folder, '.raymond'), { mode: 0o700 });
  await writeFile(join(own, 'info/exclude'), '/.raymond/\n', { mode: 0o600 });
  await commit(folder, 'Begin');
  const branches = new Set([MAIN]);
  for (const { branch = MAIN, message, files } of commits === true ? [] : commits) {
    checkBranch(branch);
    const start = branches.has(branch) ? [branch] : ['-b', branch, MAIN];
    await git(folder, 'checkout', '-q', ...start);
    branches.add(branch);
    await putFiles(folder, { files });
    await commit(folder, message ?? `Change ${Object.keys(files).join(', ')}`);
  }
  await git(folder, 'checkout', '-q', MAIN);
}

const MAIN = 'main';

/** The environment of scripts in tests. A hook of git that runs tests must not lead them to its own repository. */
export function testEnvironment(from: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const others = Object.entries(from).filter(([name]) => !name.startsWith('GIT_'));
  return { ...Object.fromEntries(others), ...NO_CONFIG };
}

/** Undefined if the branch does not exist. */
export async function branchIn(
  folder: string,
  branch: string,
): Promise<{ readonly subjects: readonly string[] } | undefined> {
  checkBranch(branch);
  const known = await git(folder, 'for-each-ref', '--format=%(refname)', `refs/heads/${branch}`);
  if (known.trim() !== `refs/heads/${branch}`) return undefined;
  const subjects = await git(folder, 'log', '--format=%s', `refs/heads/${branch}`, '--');
  return { subjects: subjects.trimEnd().split('\n') };
}

/** The text of a file in the newest commit of a branch. */
export async function committedFile(
  folder: string,
  branch: string,
  file: string,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  try {
    return { text: await git(folder, 'cat-file', 'blob', `refs/heads/${branch}:${file}`) };
  } catch {
    return { problem: 'no such file' };
  }
}

async function commit(folder: string, message: string): Promise<void> {
  await git(folder, 'add', '--all');
  await git(folder, 'commit', '-q', '--allow-empty', '-m', message);
}

async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const env = { ...NO_CONFIG, ...withSettings([]) };
  try {
    return await runGit({ args: ['-C', folder, ...args], env });
  } catch (error) {
    throw new UserError(
      'git-failed',
      `The repository of a test cannot be used: ${messageOf(error)}`,
      'Check the git: of the test, and that git is installed.',
    );
  }
}

function checkBranch(branch: string): void {
  if (/^\w[\w./-]*$/.test(branch) && !branch.includes('..')) return;
  throw new UserError(
    'bad-file',
    `A test names the branch ${JSON.stringify(branch)}.`,
    'Use letters, digits, "_", "-", "." and "/".',
  );
}

/** Raymond's own git also reads the configuration of the user, and these settings come before it. */
const CONFIG = `[user]
	name = Raymond
	email = raymond@example.com
[core]
	hooksPath = /dev/null
	fsmonitor = false
	autocrlf = false
	attributesFile = /dev/null
	excludesFile = /dev/null
[commit]
	gpgSign = false
[gc]
	auto = 0
[maintenance]
	auto = false
`;
