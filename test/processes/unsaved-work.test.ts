// Finds the work that would be lost with a folder, judged by git.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { unsavedWork } from '../../src/execute/git/unsaved-work.ts';

interface World {
  /** A repository of the user, with one commit. */
  readonly main: string;
  /** The folder that would be removed. */
  readonly doomed: string;
  git(folder: string, ...args: string[]): string;
  path(...parts: string[]): string;
}

function world(): World {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'raymond unsaved ä ')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const path = (...parts: string[]) => join(root, ...parts);
  const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (folder: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const [main, doomed] = [path('main'), path('run')];
  for (const folder of [main, doomed]) mkdirSync(folder);
  git(main, 'init', '-q', '-b', 'main');
  writeFileSync(join(main, 'file'), 'one\n');
  writeFileSync(join(main, '.gitignore'), 'ignored\n');
  git(main, 'add', '.');
  git(main, 'commit', '-q', '-m', 'first');
  return { main, doomed, git, path };
}

/** Prepares the doomed folder, and returns the expected reason to keep it, if any. */
type Play = (world: World) => string | undefined;

const tree = ({ git, main, path }: World, ...args: string[]) => {
  const folder = path('run', 'tasks', 'tree');
  git(main, 'worktree', 'add', '-q', ...args, folder);
  return folder;
};
const commit = ({ git }: World, folder: string) => {
  writeFileSync(join(folder, 'more'), 'two\n');
  git(folder, 'add', '.');
  git(folder, 'commit', '-q', '-m', 'second');
};

const CHANGES = 'has uncommitted changes';
const COMMITS = 'has commits that exist nowhere else';

const PLAYS: Readonly<Record<string, Play>> = {
  'a folder without a repository': ({ path }) => {
    writeFileSync(path('run', 'notes'), 'x');
    return undefined;
  },
  'a worktree without changes': (all) => {
    tree(all, '-b', 'task');
    return undefined;
  },
  'a worktree whose commits are on a branch': (all) => {
    commit(all, tree(all, '-b', 'task'));
    return undefined;
  },
  'a worktree with an ignored file': (all) => {
    writeFileSync(join(tree(all, '-b', 'task'), 'ignored'), 'x');
    return undefined;
  },
  'a worktree with a changed file': (all) => {
    appendFileSync(join(tree(all, '-b', 'task'), 'file'), 'more\n');
    return CHANGES;
  },
  'a worktree with a staged file': (all) => {
    const folder = tree(all, '-b', 'task');
    appendFileSync(join(folder, 'file'), 'more\n');
    all.git(folder, 'add', '.');
    return CHANGES;
  },
  'a worktree with a new file': (all) => {
    writeFileSync(join(tree(all, '-b', 'task'), 'new'), 'x');
    return CHANGES;
  },
  'a worktree with a deleted file': (all) => {
    rmSync(join(tree(all, '-b', 'task'), 'file'));
    return CHANGES;
  },
  'a worktree with commits on no branch': (all) => {
    commit(all, tree(all, '--detach'));
    return COMMITS;
  },
  'a worktree with commits that only a ref of its own has': (all) => {
    const folder = tree(all, '--detach');
    commit(all, folder);
    all.git(folder, 'update-ref', 'refs/worktree/mine', 'HEAD');
    all.git(folder, 'update-ref', 'refs/bisect/bad', 'HEAD');
    return COMMITS;
  },
  'a worktree whose branch cannot be read': (all) => {
    const folder = tree(all, '-b', 'task');
    commit(all, folder);
    writeFileSync(join(all.main, '.git/refs/heads/task'), 'nothing\n');
    return CHANGES;
  },
  'a worktree on no branch, with commits that a branch has': (all) => {
    const folder = tree(all, '--detach');
    commit(all, folder);
    all.git(folder, 'branch', 'saved');
    return undefined;
  },
  'a worktree whose repository no longer exists': (all) => {
    tree(all, '-b', 'task');
    rmSync(all.main, { recursive: true });
    return 'cannot be checked (its repository no longer exists)';
  },
  'a clone without changes': ({ git, main, path }) => {
    git(main, 'clone', '-q', main, path('run', 'clone'));
    return undefined;
  },
  'a shallow clone, packed, of a branch': ({ git, main, path }) => {
    git(main, 'clone', '-q', '--depth', '1', `file://${main}`, path('run', 'clone'));
    git(path('run', 'clone'), 'pack-refs', '--all');
    return undefined;
  },
  'a clone with a commit that was not pushed': (all) => {
    all.git(all.main, 'clone', '-q', all.main, all.path('run', 'clone'));
    commit(all, all.path('run', 'clone'));
    return COMMITS;
  },
  'a clone with a commit on another branch': (all) => {
    const folder = all.path('run', 'clone');
    all.git(all.main, 'clone', '-q', all.main, folder);
    all.git(folder, 'switch', '-q', '-c', 'side');
    commit(all, folder);
    all.git(folder, 'switch', '-q', 'main');
    return COMMITS;
  },
  'a clone whose commit was pushed': (all) => {
    const folder = all.path('run', 'clone');
    all.git(all.main, 'clone', '-q', all.main, folder);
    commit(all, folder);
    all.git(folder, 'push', '-q', 'origin', 'HEAD:refs/heads/pushed');
    return undefined;
  },
  'a clone with a stash': ({ git, main, path }) => {
    const folder = path('run', 'clone');
    git(main, 'clone', '-q', main, folder);
    appendFileSync(join(folder, 'file'), 'more\n');
    git(folder, 'stash', '-q');
    return COMMITS;
  },
  'a new repository with a file': ({ git, path }) => {
    git(path('run'), 'init', '-q', 'own');
    writeFileSync(path('run', 'own', 'file'), 'x');
    return CHANGES;
  },
  'an empty repository': ({ git, path }) => {
    git(path('run'), 'init', '-q', 'own');
    return undefined;
  },
  'a bare repository with a branch': ({ git, main, path }) => {
    git(main, 'clone', '-q', '--bare', main, path('run', 'bare.git'));
    return COMMITS;
  },
  'a repository deep among other files': ({ git, main, path }) => {
    const folder = path('run', 'a', 'node_modules', 'b', 'clone');
    git(main, 'clone', '-q', main, folder);
    writeFileSync(join(folder, 'new'), 'x');
    return CHANGES;
  },
  'a folder that only looks like a worktree': ({ path }) => {
    mkdirSync(path('run', 'tree'));
    writeFileSync(path('run', 'tree', '.git'), 'nonsense');
    return `cannot be checked (${path('run', 'tree', '.git')} names no repository)`;
  },
  'a link to a repository elsewhere': ({ main, path }) => {
    writeFileSync(join(main, 'new'), 'x');
    symlinkSync(main, path('run', 'link'));
    return undefined;
  },
};

test.each(Object.keys(PLAYS))('%s', async (name) => {
  const all = world();
  const why = PLAYS[name]?.(all);
  const found = await unsavedWork(all.doomed);
  expect(found.map((work) => work.why)).toEqual(why === undefined ? [] : [why]);
  expect(existsSync(all.path('.git'))).toBe(false);
});

test('a folder that does not exist contains no work', async () => {
  expect(await unsavedWork('/nowhere/at/all')).toEqual([]);
});

test('runs no program that the repository names', async () => {
  const { git, main, path, doomed } = world();
  const [folder, mark, program] = [path('run', 'clone'), path('was-run'), path('program')];
  writeFileSync(program, `#!/bin/sh\ntouch '${mark}'\ncat\n`);
  chmodSync(program, 0o755);
  git(main, 'clone', '-q', main, folder);
  for (const key of [
    'core.fsmonitor',
    'core.sshCommand',
    'filter.x.clean',
    'diff.external',
    'core.pager',
    'remote.origin.uploadpack',
  ])
    git(folder, 'config', key, `'${program}'`);
  git(folder, 'config', 'extensions.partialClone', 'origin');
  mkdirSync(join(folder, '.git', 'hooks'), { recursive: true });
  symlinkSync(program, join(folder, '.git', 'hooks', 'post-index-change'));
  appendFileSync(join(folder, '.git', 'info', 'attributes'), '* filter=x\n');
  writeFileSync(join(folder, '.gitattributes'), '* filter=x\n');
  appendFileSync(join(folder, 'file'), 'more\n');
  symlinkSync(program, join(folder, 'git'));
  vi.stubEnv('PATH', `.:${process.env.PATH}`);
  expect(await unsavedWork(doomed)).toEqual([{ path: folder, why: CHANGES }]);
  vi.unstubAllEnvs();
  expect(existsSync(mark)).toBe(false);
  // A normal call of git runs the program.
  git(folder, 'status', '--porcelain');
  expect(existsSync(mark)).toBe(true);
});
