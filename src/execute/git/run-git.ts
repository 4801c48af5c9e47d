import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { parse, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface GitRequest {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Texts are bytes, one per character, because names of files can be any bytes. */
  readonly isBinary?: true;
  /** The lock of a file that only this caller uses. A killed git leaves it. */
  readonly lock?: string;
  /** How long git may take; a minute if absent. */
  readonly timeoutMs?: number;
}

/**
 * Standard output. Rejects with the words of git if it fails. A git that another process has killed
 * is run again: every request that Raymond makes may be repeated.
 */
export async function runGit(request: GitRequest): Promise<string> {
  for (let tries = 1; ; tries++) {
    if (request.lock !== undefined) await rm(request.lock, { force: true });
    const told = await runOnce(request);
    if (told !== 'killed') return told.output;
    if (tries === MOST_TRIES) throw new Error('git was killed');
  }
}

/** How often git is started if it is killed each time. */
export const MOST_TRIES = 5;

function runOnce({ args, env = {}, input = '', isBinary, timeoutMs }: GitRequest): Promise<Told> {
  const encoding = isBinary ? 'latin1' : 'utf8';
  return new Promise((done, reject) => {
    const child = spawn('git', args, {
      cwd: NEUTRAL_FOLDER,
      env: { ...gitEnvironment(), ...env },
      // Ctrl-C asks Raymond to stop in order, and must not end git in the middle of its work.
      detached: true,
      timeout: timeoutMs ?? TIMEOUT_MS,
      windowsHide: true,
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let size = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_BYTES) child.kill('SIGKILL');
      else out.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.once('error', (error) => reject(new Error(isMissing(error) ? MISSING : error.message)));
    child.once('close', (code, signal) => {
      if (code === 0) return done({ output: Buffer.concat(out).toString(encoding) });
      if (signal === 'SIGKILL' && !child.killed) return done('killed');
      const said = Buffer.concat(err).toString().trim();
      reject(new Error(said || `git ended with ${signal ?? code}`));
    });
    // git may fail before it has read all of its input.
    child.stdin.on('error', () => {});
    child.stdin.end(input, encoding);
  });
}

type Told = { readonly output: string } | 'killed';

/** Whether a text is the full name of an object. Texts come from journals, agents and git. */
export const isObjectId = (text: string): boolean => /^[0-9a-f]{40,64}$/.test(text);

interface Branch {
  /** Its newest commit. */
  readonly tip: string;
  /** The tree that has checked it out; '' if none has. */
  readonly usedAt: string;
}

export async function branchOf(repository: string, branch: string): Promise<Branch | undefined> {
  const told = await whenAllAreMade(() =>
    refOf(repository, branch, '%(objectname) %(worktreepath)'),
  );
  const [, tip, usedAt] = /^([0-9a-f]{40,64}) (.*)\n/.exec(told) ?? [];
  return tip === undefined || usedAt === undefined ? undefined : { tip, usedAt };
}

/** The newest commit of a branch, whatever happens to worktrees meanwhile. */
export async function tipOf(repository: string, branch: string): Promise<string | undefined> {
  const tip = (await refOf(repository, branch, '%(objectname)')).trimEnd();
  return isObjectId(tip) ? tip : undefined;
}

const refOf = (repository: string, branch: string, format: string) =>
  runGit({
    args: ['--git-dir', repository, 'for-each-ref', `--format=${format}`, `refs/heads/${branch}`],
  });

/** To know where a branch is used, git reads all worktrees, and fails if one of them is just being made. */
async function whenAllAreMade(ask: () => Promise<string>): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      return await ask();
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
      await delay(20 * tries);
    }
  }
}

export interface GitFolders {
  /** The folder of git for a working tree. */
  readonly own: string;
  /** The folder that all trees of the repository share. */
  readonly shared: string;
  /** How the repository names its objects. */
  readonly format: string;
}

/** `where` is an option of git and its value. Git runs no other program for this. */
export async function gitFolders(...where: readonly [string, string]): Promise<GitFolders> {
  const paths = ['--path-format=absolute', '--absolute-git-dir', '--git-common-dir'];
  const args = [...where, 'rev-parse', ...paths, '--show-object-format'];
  const [own = '', shared = '', format = ''] = (await runGit({ args })).split('\n');
  return { own, shared, format };
}

/** If PATH has a relative folder, git is not searched in a folder that others can write. */
export const NEUTRAL_FOLDER = parse(resolve('.')).root;

/** Without variables that could lead git to another repository or to another program. */
export function gitEnvironment(): Readonly<Record<string, string>> {
  const inherited = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || name.startsWith('GIT_') ? [] : [[name, value]],
  );
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    // A missing object is never fetched.
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
  };
}

const isMissing = (error: Error) => 'code' in error && error.code === 'ENOENT';
const MISSING = 'git is not installed';
const MAX_BYTES = 256 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
