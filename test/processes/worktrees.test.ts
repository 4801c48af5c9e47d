// Worktrees with the real git: making, looking and removing.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { gitWorktrees } from '../../src/execute/git/worktrees.ts';
import { RunProcesses } from '../../src/execute/process/index.ts';
import type { AgentWorktree } from '../../src/model/worktree.ts';
import { eventually } from '../eventually.ts';

const RUN = 'run-1';

/** A repository with one commit, and the worktrees of a run in it. */
function world(name = 'with space ä') {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-worktrees-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  vi.stubEnv('HOME', root);
  vi.stubEnv('XDG_CONFIG_HOME', join(root, '.config'));
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const main = join(root, name);
  mkdirSync(main);
  const git = (folder: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@x', ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  git(main, 'init', '-q', '-b', 'main');
  mkdirSync(join(main, 'süb dir'));
  mkdirSync(join(main, '.raymond'));
  writeFileSync(join(main, '.raymond', '.gitignore'), '*\n');
  writeFileSync(join(main, 'file'), 'one\n');
  writeFileSync(join(main, '.gitignore'), 'ignored\n');
  writeFileSync(join(main, 'süb dir', 'inner'), 'x\n');
  git(main, 'add', '.');
  git(main, 'commit', '-q', '-m', 'first');
  const runFolder = join(main, '.raymond', 'runs', RUN);
  mkdirSync(runFolder, { recursive: true });
  const folder = join(main, '.raymond', 'worktrees', RUN);
  const worktrees = gitWorktrees({
    run: RUN,
    folder,
    records: join(runFolder, 'worktrees'),
    processes: new RunProcesses(runFolder),
  });
  /** As a fork decides it. */
  const planned = async (
    agent = 'main_w1',
    { directory = main, base, name: branch = 'fix' }: Partial<Planned> = {},
  ) => {
    const found = await worktrees.find(directory, base);
    if (!found.found) throw new Error(found.problem);
    const path = join(found.folder, agent);
    const tree = { path, base: found.base, repository: found.repository };
    const worktree: AgentWorktree = {
      branch: `raymond/${RUN}/${branch}`,
      tree,
      look: undefined,
      wasSeen: false,
    };
    return { agent, worktree, path, cwd: join(path, found.place) };
  };
  const make = ({ agent, worktree, cwd }: Awaited<ReturnType<typeof planned>>) =>
    worktrees.make(agent, worktree, cwd).done;
  const made = async (agent?: string, more?: Partial<Planned>) => {
    const plan = await planned(agent, more);
    expect(await make(plan)).toBeUndefined();
    return plan;
  };
  const branches = () => git(main, 'branch', '--list', 'raymond/*').split('\n').join('');
  return { root, main, folder, git, worktrees, planned, make, made, branches };
}

interface Planned {
  readonly directory: string;
  readonly base: string | undefined;
  readonly name: string;
}

const problem = async (of: Promise<{ found: boolean; problem?: string }>) => (await of).problem;

test('a worktree has the files of the base, on its own branch, and main stays clean', async () => {
  const { main, git, made } = world();
  const { path } = await made();
  expect(readFileSync(join(path, 'file'), 'utf8')).toBe('one\n');
  expect(git(path, 'branch', '--show-current')).toBe(`raymond/${RUN}/fix`);
  expect(git(main, 'status', '--porcelain')).toBe('');
});

test('git ignores worktrees although the .gitignore of .raymond does not', async () => {
  const { main, git, made } = world();
  writeFileSync(join(main, '.raymond', '.gitignore'), 'state\nruns\n!.gitignore\n');
  await made();
  expect(git(main, 'status', '--porcelain', '-uall')).toBe('?? .raymond/.gitignore');
});

test('the worker is at the same place in the tree', async () => {
  const { main, made } = world();
  const { cwd, path } = await made('main_w1', { directory: join(main, 'süb dir') });
  expect(cwd).toBe(join(path, 'süb dir'));
  expect(existsSync(join(cwd, 'inner'))).toBe(true);
});

test('base names a branch, a tag or a commit, and is kept as a commit', async () => {
  const { main, git, planned, made } = world();
  const first = git(main, 'rev-parse', 'HEAD');
  git(main, 'tag', '-a', 'v1', '-m', 'v1');
  git(main, 'commit', '-q', '--allow-empty', '-m', 'second');
  for (const base of ['v1', 'HEAD~1', first, first.slice(0, 12)])
    expect((await planned('main_w1', { base })).worktree.tree?.base).toBe(first);
  const { worktree, path } = await made('main_w1', { base: 'v1' });
  git(main, 'tag', '-d', 'v1');
  expect(git(path, 'rev-parse', 'HEAD')).toBe(worktree.tree?.base);
});

test('failures outside of a usable repository are clear', async () => {
  const { root, main, git, worktrees } = world();
  const find = (directory: string, base?: string) => problem(worktrees.find(directory, base));
  const folder = (name: string) => {
    mkdirSync(join(root, name), { recursive: true });
    return join(root, name);
  };
  expect(await find(folder('none'))).toContain('is in none');
  const empty = folder('empty');
  git(empty, 'init', '-q');
  expect(await find(empty)).toContain('has no commit yet');
  git(root, 'clone', '-q', '--bare', main, join(root, 'bare.git'));
  expect(await find(join(root, 'bare.git'))).toContain('bare repository');
  expect(await find(join(main, '.git'))).toContain('folder of git');
  expect(await find(main, 'nothing')).toContain('has no such branch, tag or commit');
  expect(await find(main, 'HEAD:file')).toContain('has no such branch, tag or commit');
  mkdirSync(join(main, 'new'));
  expect(await find(join(main, 'new'))).toContain('the current commit has no such folder');
});

test('without git it says so', async () => {
  const { main, worktrees } = world();
  vi.stubEnv('PATH', '/nowhere');
  expect(await problem(worktrees.find(main, undefined))).toBe('git is not installed');
});

test('a worktree of a worktree, of a detached HEAD and of a submodule', async () => {
  const { root, main, git, made } = world();
  const outer = await made();
  git(outer.path, 'commit', '-q', '--allow-empty', '-m', 'in the worktree');
  const inner = await made('main_w1_w1', { directory: outer.path, name: 'inner' });
  expect(git(inner.path, 'log', '-1', '--format=%s')).toBe('in the worktree');

  git(main, 'checkout', '-q', '--detach');
  await made('main_w2', { name: 'detached' });

  git(root, 'clone', '-q', main, join(root, 'library'));
  git(main, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', join(root, 'library'));
  git(main, 'commit', '-q', '-m', 'submodule');
  const sub = await made('main_w3', { directory: join(main, 'library'), name: 'sub' });
  expect(git(join(main, 'library'), 'worktree', 'list')).toContain(sub.path);
  const whole = await made('main_w4', { name: 'whole' });
  // As git does it: the submodule is not checked out.
  expect(readdirSync(join(whole.path, 'library'))).toEqual([]);
});

test('the worktree of a worker can be made after its parent and the parent tree are gone', async () => {
  const { git, main, made, planned, make } = world();
  const outer = await made();
  const inner = await planned('main_w1_w1', { directory: outer.path, name: 'inner' });
  git(main, 'worktree', 'remove', outer.path);
  expect(await make(inner)).toBeUndefined();
});

test('a sparse tree stays sparse, and a place that it lacks is named', async () => {
  const { main, git, made, planned, make } = world();
  mkdirSync(join(main, 'big'));
  writeFileSync(join(main, 'big', 'file'), 'x');
  git(main, 'add', '.');
  git(main, 'commit', '-q', '-m', 'big');
  git(main, 'sparse-checkout', 'set', 'süb dir');
  const { path } = await made();
  expect(readdirSync(path).sort()).toEqual(['.git', '.gitignore', 'file', 'süb dir']);
  mkdirSync(join(main, 'big'));
  const there = await planned('main_w2', { directory: join(main, 'big'), name: 'two' });
  expect(await make(there)).toContain('has no folder big');
});

test('no hook, monitor or filter of the repository runs', async () => {
  const { root, main, git, worktrees, made, planned, make } = world();
  const owned = join(root, 'owned');
  const evil = join(main, 'evil.sh');
  writeFileSync(evil, `#!/bin/sh\necho "$0" >>'${owned}'\ncat\n`);
  chmodSync(evil, 0o755);
  for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change']) {
    writeFileSync(join(main, '.git', 'hooks', hook), readFileSync(evil), { mode: 0o755 });
  }
  git(main, 'config', 'core.hooksPath', '.git/hooks');
  git(main, 'config', 'core.fsmonitor', evil);
  git(main, 'config', 'core.sshCommand', evil);
  const plan = await made();
  expect(await worktrees.look(plan.agent, plan.worktree)).toMatchObject({ commits: 0 });
  expect(await worktrees.remove(plan.agent, plan.worktree)).toBeUndefined();

  // A filter that is configured but not used disturbs nothing.
  git(main, 'config', 'filter.mine=.smudge', evil);
  git(main, 'config', 'filter.mine=.clean', evil);
  const second = await made();
  await worktrees.remove(second.agent, second.worktree);
  expect(existsSync(owned)).toBe(false);
  writeFileSync(join(main, '.gitattributes'), 'file filter=mine=\n');
  const inert = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null'];
  git(main, ...inert, 'add', '.gitattributes');
  git(main, ...inert, 'commit', '-q', '-m', 'a');
  rmSync(owned, { force: true });
  const third = await planned();
  expect(await make(third)).toMatch(
    /smudge filter mine= failed\. Raymond runs no program.*your own configuration/,
  );
  expect(existsSync(third.path)).toBe(false);
  expect(existsSync(owned)).toBe(false);

  // A filter of the user is used, as with git lfs.
  git(main, 'config', '--global', 'filter.mine=.smudge', 'sed s/one/smudged/');
  git(main, 'config', '--unset', 'filter.mine=.smudge');
  git(main, 'config', '--unset', 'filter.mine=.clean');
  expect(await make(third)).toBeUndefined();
  expect(readFileSync(join(third.path, 'file'), 'utf8')).toBe('smudged\n');
  expect(existsSync(owned)).toBe(false);
});

test('a conditional include could hide a filter, so it is refused', async () => {
  const { main, git, planned, make } = world();
  git(main, 'config', 'includeIf.onbranch:raymond/**.path', '../evil');
  expect(await make(await planned())).toContain('move it to your own configuration');
});

test('variables of git in the environment lead nowhere else', async () => {
  const { root, main, git, made } = world();
  const other = join(root, 'other');
  mkdirSync(other);
  git(other, 'init', '-q');
  vi.stubEnv('GIT_DIR', join(other, '.git'));
  vi.stubEnv('GIT_WORK_TREE', other);
  vi.stubEnv('GIT_INDEX_FILE', join(other, 'index'));
  const { path } = await made();
  vi.stubEnv('GIT_DIR', undefined);
  vi.stubEnv('GIT_WORK_TREE', undefined);
  vi.stubEnv('GIT_INDEX_FILE', undefined);
  expect(git(main, 'worktree', 'list')).toContain(path);
});

test('a branch that is taken is not used', async () => {
  const { main, git, planned, make } = world();
  const plan = await planned();
  git(main, 'commit', '-q', '--allow-empty', '-m', 'second');
  git(main, 'branch', `raymond/${RUN}/fix`);
  expect(await make(plan)).toBe(`The branch raymond/${RUN}/fix exists already.`);
});

test('find reports the branches of the run', async () => {
  const { main, git, worktrees } = world();
  git(main, 'branch', `raymond/${RUN}/Größe`);
  git(main, 'branch', 'raymond/other/x');
  expect(await worktrees.find(main, undefined)).toMatchObject({
    taken: new Set([`raymond/${RUN}/größe`]),
  });
});

test('a branch in the way of the namespace is reported in the words of git', async () => {
  const { main, git, planned, make } = world();
  git(main, 'branch', 'raymond');
  expect(await make(await planned())).toMatch(/refs\/heads\/raymond' exists/);
});

test.each([
  ['a file', (path: string) => writeFileSync(path, 'x')],
  ['a folder with files', (path: string) => mkdirSync(join(path, 'x'), { recursive: true })],
])('%s at the path is not touched', async (_, put) => {
  const { folder, planned, make } = world();
  mkdirSync(folder, { recursive: true });
  const plan = await planned();
  put(plan.path);
  expect(await make(plan)).toContain(`${plan.path} exists, but`);
  expect(existsSync(plan.path)).toBe(true);
});

test('a tree that was seen is not made again', async () => {
  const { git, main, made, make } = world();
  const plan = await made();
  git(main, 'worktree', 'remove', plan.path);
  const again = { ...plan, worktree: { ...plan.worktree, wasSeen: true } };
  expect(await make(again)).toBe(
    `The worktree ${plan.path} no longer exists. To restore the commits of its branch: git worktree add ${plan.path} raymond/${RUN}/fix`,
  );
});

test('a tree that git did not finish is made again, with nothing left of the first attempt', async () => {
  const { main, git, made, make, branches } = world();
  const plan = await made();
  const entry = join(main, '.git', 'worktrees', 'main_w1');
  writeFileSync(join(entry, 'locked'), 'initializing');
  rmSync(join(plan.path, 'file'));
  expect(await make(plan)).toBeUndefined();
  expect(existsSync(join(plan.path, 'file'))).toBe(true);
  // Also when only the entry, or only the branch is left.
  for (const left of [[plan.path], [plan.path, entry]]) {
    writeFileSync(join(entry, 'locked'), 'initializing');
    for (const path of left) rmSync(path, { recursive: true });
    expect(await make(plan)).toBeUndefined();
  }
  expect(git(main, 'worktree', 'list').split('\n')).toHaveLength(2);
  expect(branches()).toBe(`+ raymond/${RUN}/fix`);
});

test('a part of a worktree that a killed git has left is removed', async () => {
  const { main, planned, made, make, worktrees, branches } = world();
  const lock = join(main, '.git', 'refs', 'heads', 'raymond', RUN, 'fix.lock');
  const left = async () => {
    mkdirSync(join(lock, '..'), { recursive: true });
    writeFileSync(lock, '');
  };
  await left();
  const plan = await planned();
  // Nothing says that a git of the run has left this lock.
  expect(await make(plan)).toContain('fix.lock');
  mkdirSync(join(main, '.raymond', 'runs', RUN, 'worktrees', plan.agent), { recursive: true });
  mkdirSync(join(main, '.git', 'worktrees', plan.agent), { recursive: true });
  expect(await make(plan)).toBeUndefined();
  expect(readdirSync(join(main, '.git', 'worktrees'))).toEqual([plan.agent]);
  await made();
  await left();
  expect(await worktrees.remove(plan.agent, plan.worktree)).toBeUndefined();
  expect(branches()).toBe('');
});

test('a tree that exists is adopted with its content', async () => {
  const { made, make } = world();
  const plan = await made();
  writeFileSync(join(plan.path, 'file'), 'work');
  expect(await make(plan)).toBeUndefined();
  expect(readFileSync(join(plan.path, 'file'), 'utf8')).toBe('work');
});

const REAL_GIT = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();

/** Puts a program in front of git, which is killed so often when it gets this command. */
function killGit(root: string, command: string, times: number) {
  const bin = join(root, 'bin');
  mkdirSync(bin, { recursive: true });
  const program = `#!/bin/bash
left=$(cat '${root}/kills')
case " $* " in *" ${command} "*) [ "$left" = 0 ] || { echo $((left - 1)) >'${root}/kills'; kill -9 $$; } ;; esac
exec '${REAL_GIT}' "$@"
`;
  writeFileSync(join(bin, 'git'), program, { mode: 0o755 });
  writeFileSync(join(root, 'kills'), String(times));
  vi.stubEnv('PATH', `${bin}:${process.env.PATH}`);
}

test('a git that another process kills is run again', async () => {
  const { root, planned, make, worktrees } = world();
  const plan = await planned();
  killGit(root, 'worktree add', 4);
  expect(await make(plan)).toBeUndefined();
  killGit(root, 'status', 4);
  expect(await worktrees.look(plan.agent, plan.worktree)).toMatchObject({ commits: 0 });
  killGit(root, 'worktree remove', 4);
  expect(await worktrees.remove(plan.agent, plan.worktree)).toBeUndefined();
  killGit(root, 'worktree add', 5);
  expect(await make(plan)).toMatch(/^git could not make the worktree .*: killed$/);
});

test('many worktrees are made at the same time', async () => {
  const { planned, make, git, main } = world();
  const plans = await Promise.all(
    ['a', 'b', 'c', 'd'].map((name) => planned(`main_${name}1`, { name })),
  );
  expect(await Promise.all(plans.map(make))).toEqual(plans.map(() => undefined));
  expect(git(main, 'worktree', 'list').split('\n')).toHaveLength(5);
});

test('a look counts commits and sees changes', async () => {
  const { main, git, made, worktrees } = world();
  const { agent, worktree, path } = await made();
  const look = () => worktrees.look(agent, worktree);
  const branch = `raymond/${RUN}/fix`;
  expect(await look()).toEqual({ branch, commits: 0, dirty: false });
  writeFileSync(join(path, 'ignored'), 'x');
  expect(await look()).toEqual({ branch, commits: 0, dirty: false });
  writeFileSync(join(path, 'new'), 'x');
  expect(await look()).toEqual({ branch, commits: 0, dirty: true });
  git(path, 'add', '.');
  expect(await look()).toEqual({ branch, commits: 0, dirty: true });
  git(path, 'commit', '-q', '-m', 'one');
  git(main, 'commit', '-q', '--allow-empty', '-m', 'elsewhere');
  expect(await look()).toEqual({ branch, commits: 1, dirty: false });
  const head = git(path, 'rev-parse', 'HEAD');
  git(path, 'checkout', '-q', '-b', 'agent/own');
  expect(await look()).toEqual({ branch: 'agent/own', commits: 1, dirty: false });
  git(path, 'checkout', '-q', '--detach');
  expect(await look()).toEqual({ branch: head, commits: 1, dirty: false });
  git(path, 'checkout', '-q', worktree.tree?.base ?? '');
  // The commit is still on the branch.
  expect(await look()).toMatchObject({ commits: 1, dirty: false });
  rmSync(path, { recursive: true });
  expect(await look()).toEqual({ branch, commits: 1, dirty: false, missing: true });
});

test('a branch of which a script could not use the name is reported as a commit', async () => {
  const { main, git, made, worktrees } = world();
  const { agent, worktree, path } = await made();
  git(path, 'commit', '-q', '--allow-empty', '-m', 'one');
  const head = git(path, 'rev-parse', 'HEAD');
  git(main, 'update-ref', 'refs/heads/--upload-pack=x', head);
  writeFileSync(join(main, '.git/worktrees/main_w1/HEAD'), 'ref: refs/heads/--upload-pack=x\n');
  expect(await worktrees.look(agent, worktree)).toMatchObject({ branch: head, commits: 1 });
});

test('a tree whose .git leads elsewhere is not believed', async () => {
  const { root, git, made, worktrees } = world();
  const { agent, worktree, path } = await made();
  git(root, 'init', '-q', join(root, 'fake'));
  writeFileSync(join(path, '.git'), `gitdir: ${join(root, 'fake', '.git')}\n`);
  await expect(worktrees.look(agent, worktree)).rejects.toThrow('is not a worktree');
  expect(await worktrees.remove(agent, worktree)).toBe('it is not a worktree');
  expect(existsSync(path)).toBe(true);
});

test('a worktree without work is removed with its branch', async () => {
  const { main, folder, git, made, worktrees, branches } = world();
  const { agent, worktree, path } = await made();
  writeFileSync(join(path, 'ignored'), 'x');
  expect(await worktrees.remove(agent, worktree)).toBeUndefined();
  expect(existsSync(folder)).toBe(false);
  expect(branches()).toBe('');
  expect(git(main, 'worktree', 'list').split('\n')).toHaveLength(1);
  // Once more, after a crash.
  expect(await worktrees.remove(agent, worktree)).toBeUndefined();
});

test('a worktree that git did not finish is removed with its branch', async () => {
  const { main, folder, git, planned, made, worktrees, branches } = world();
  for (const isMoved of [false, true]) {
    const { agent, worktree, path } = await made();
    writeFileSync(join(main, '.git', 'worktrees', 'main_w1', 'locked'), 'initializing');
    // A removal that was killed has moved the tree away.
    if (isMoved) rmSync(path, { recursive: true });
    expect(await worktrees.remove(agent, worktree)).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
    expect(branches()).toBe('');
    expect(git(main, 'worktree', 'list').split('\n')).toHaveLength(1);
  }
  // A git that was killed has left a part of its entry.
  const entry = join(main, '.git', 'worktrees', 'main_w1');
  mkdirSync(join(entry, 'logs'), { recursive: true });
  const { agent, worktree } = await planned();
  expect(await worktrees.remove(agent, worktree)).toBeUndefined();
  expect(existsSync(entry)).toBe(false);
});

test.each<[string, string, (path: string, git: (...args: string[]) => string) => void]>([
  ['an untracked file', 'uncommitted changes', (path) => writeFileSync(join(path, 'n'), '')],
  ['a changed file', 'uncommitted changes', (path) => appendFileSync(join(path, 'file'), 'x')],
  ['a commit', 'commits', (_, git) => git('commit', '-q', '--allow-empty', '-m', 'x')],
  [
    'a commit on another branch',
    'commits',
    (_, git) => {
      git('checkout', '-q', '-b', 'own');
      git('commit', '-q', '--allow-empty', '-m', 'x');
    },
  ],
  [
    'a commit from which HEAD was moved away',
    'commits',
    (_, git) => {
      git('commit', '-q', '--allow-empty', '-m', 'x');
      git('checkout', '-q', '--detach', 'HEAD~1');
    },
  ],
  ['a lock', 'it is locked', (path, git) => void git('worktree', 'lock', path)],
  [
    'a repository in an ignored folder',
    'ignored has',
    (path, git) => {
      git('init', '-q', join(path, 'ignored'));
      writeFileSync(join(path, 'ignored', 'x'), '');
    },
  ],
])('a worktree with %s stays', async (_, why, prepare) => {
  const { git, made, worktrees, branches } = world();
  const { agent, worktree, path } = await made();
  prepare(path, (...args) => git(path, ...args));
  expect(await worktrees.remove(agent, worktree)).toContain(why);
  expect(existsSync(join(path, '.git'))).toBe(true);
  expect(branches()).toContain(`raymond/${RUN}/fix`);
});

test('a worktree with a submodule stays, as git does it, and changes in the submodule are seen', async () => {
  const { root, main, git, made, worktrees } = world();
  git(root, 'clone', '-q', main, join(root, 'library'));
  const allow = ['-c', 'protocol.file.allow=always'];
  git(main, ...allow, 'submodule', 'add', '-q', join(root, 'library'));
  git(main, 'commit', '-q', '-m', 'submodule');
  const { agent, worktree, path } = await made();
  git(path, ...allow, 'submodule', 'update', '-q', '--init');
  expect(await worktrees.look(agent, worktree)).toMatchObject({ dirty: false });
  expect(await worktrees.remove(agent, worktree)).toBe('it has submodules');
  writeFileSync(join(path, 'library', 'new'), 'x');
  expect(await worktrees.look(agent, worktree)).toMatchObject({ dirty: true });
});

test('a branch that another tree uses stays', async () => {
  const { main, root, git, made, worktrees, branches } = world();
  const { agent, worktree, path } = await made();
  git(path, 'checkout', '-q', '--detach');
  git(main, 'worktree', 'add', '-q', join(root, 'mine'), `raymond/${RUN}/fix`);
  expect(await worktrees.remove(agent, worktree)).toBeUndefined();
  expect(existsSync(path)).toBe(false);
  expect(branches()).toContain('fix');
});

test.each([
  ['path', { path: '/tmp/elsewhere' }, `raymond/${RUN}/fix`],
  ['branch', {}, 'main'],
  ['branch of another run', {}, 'raymond/other/fix'],
  ['base', { base: '--all' }, `raymond/${RUN}/fix`],
])('a journal of others cannot lead to another %s', async (_, more, branch) => {
  const { made, worktrees } = world();
  const { agent, worktree, cwd, path } = await made();
  if (!worktree.tree) throw new Error('It has a tree.');
  const changed = { ...worktree, branch, tree: { ...worktree.tree, ...more } };
  const refusal = expect.stringContaining('is not a worktree of');
  expect(await worktrees.make(agent, changed, cwd).done).toEqual(refusal);
  expect(await worktrees.remove(agent, changed)).toEqual(refusal);
  await expect(worktrees.look(agent, changed)).rejects.toThrow('is not a worktree of');
  expect(existsSync(path)).toBe(true);
});

test('a stopped making leaves nothing that runs', async () => {
  const { main, git, planned, worktrees, make } = world();
  const plan = await planned();
  const making = worktrees.make(plan.agent, plan.worktree, plan.cwd);
  making.stop();
  expect(await making.done).toBe('stopped');
  expect(git(main, 'worktree', 'list').split('\n')).toHaveLength(1);
  expect(await make(plan)).toBeUndefined();
});

test('a making that is stopped while git writes files leaves nothing', async () => {
  const { root, main, folder, git, planned, worktrees, branches } = world();
  git(main, 'config', '--global', 'filter.slow.smudge', `touch '${root}/begun'; sleep 60`);
  writeFileSync(join(main, '.gitattributes'), 'file filter=slow\n');
  git(main, 'add', '.');
  git(main, 'commit', '-q', '-m', 'attributes');
  const { agent, worktree, cwd, path } = await planned();
  const making = worktrees.make(agent, worktree, cwd);
  await eventually('git writes files', () => existsSync(join(root, 'begun')));
  making.stop();
  expect(await making.done).toEqual(expect.any(String));
  expect(existsSync(path)).toBe(false);
  expect(await worktrees.look(agent, worktree)).toMatchObject({ missing: true, commits: 0 });
  expect(await worktrees.remove(agent, worktree)).toBeUndefined();
  expect(existsSync(folder)).toBe(false);
  expect(readdirSync(join(main, '.git', 'worktrees'))).toEqual([]);
  expect(branches()).toBe('');
});
