// The files of a run on two machines, with a bare repository between them.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { clonedPlace } from '../../src/execute/git/cloned-place.ts';
import { gitFileHistory } from '../../src/execute/git/file-history.ts';
import { addressOf, forget, withoutSecrets } from '../../src/execute/git/remote.ts';
import { takeSnapshot } from '../../src/execute/git/snapshots.ts';
import type { CarriedRoots, RunPlace } from '../../src/ports.ts';
import { eventually } from '../eventually.ts';

const RUN = 'work-12345678';

let root: string;
let bare: string;
/** The checkout of the user, in which the run began. */
let home: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'raymond reisen ü ')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  bare = join(root, 'remote.git');
  home = join(root, 'home', 'Projekt');
  git(root, 'init', '-q', '--bare', bare);
  git(root, 'init', '-q', '-b', 'main', home);
  git(home, 'config', 'user.name', 'U');
  git(home, 'config', 'user.email', 'u@example.org');
  git(home, 'remote', 'add', 'origin', bare);
  await writeFile(join(home, '.gitignore'), 'ignored\n');
  await writeFile(join(home, 'tracked.txt'), 'one\n');
  git(home, 'add', '.');
  git(home, 'commit', '-qm', 'first');
  git(home, 'branch', 'private');
  await writeFile(join(home, 'tracked.txt'), 'two\n');
  await writeFile(join(home, 'neu ß.txt'), 'untracked\n');
  await writeFile(join(home, 'ignored'), 'secret\n');
  await symlink('tracked.txt', join(home, 'link'));
});

test('files, commits and branches continue on another machine and back', async () => {
  const { left, right } = await machines();
  expect(await enter(left, 1)).toBeUndefined();
  expect(await readFile(left.at('tracked.txt'), 'utf8')).toBe('two\n');
  expect(await readFile(left.at('neu ß.txt'), 'utf8')).toBe('untracked\n');
  expect(existsSync(left.at('ignored'))).toBe(false);
  expect(git(left.clone, 'status', '--porcelain')).toBe(git(home, 'status', '--porcelain'));
  expect(git(left.clone, 'branch', '--format=%(refname:short)')).toBe('main\n');
  // The agent works: it commits, makes a branch, and leaves something uncommitted.
  commit(left.clone, 'second');
  git(left.clone, 'checkout', '-q', '-b', 'topic');
  await writeFile(left.at('more.txt'), 'more\n');
  await writeFile(left.at('ignored'), 'of the left\n');
  expect(await leave(left, 1)).toBeUndefined();

  expect(await enter(right, 2)).toBeUndefined();
  expect(git(right.clone, 'status', '--porcelain', '--branch')).toBe(
    git(left.clone, 'status', '--porcelain', '--branch'),
  );
  expect(git(right.clone, 'log', '--format=%H', '--all', '--', '.')).toContain(
    git(left.clone, 'rev-parse', 'HEAD'),
  );
  expect(git(right.clone, 'rev-parse', 'main', 'topic')).toBe(
    git(left.clone, 'rev-parse', 'main', 'topic'),
  );
  await writeFile(right.at('more.txt'), 'even more\n');
  await rm(right.at('neu ß.txt'));
  git(right.clone, 'checkout', '-q', 'main');
  git(right.clone, 'branch', '-qD', 'topic');
  expect(await leave(right, 2)).toBeUndefined();

  expect(await enter(left, 3)).toBeUndefined();
  expect(await readFile(left.at('more.txt'), 'utf8')).toBe('even more\n');
  expect(existsSync(left.at('neu ß.txt'))).toBe(false);
  expect(await readFile(left.at('ignored'), 'utf8')).toBe('of the left\n');
  expect(git(left.clone, 'branch', '--format=%(refname:short)')).toBe('main\n');
  // Nothing of this happened in the directory of the user.
  expect(await readFile(join(home, 'tracked.txt'), 'utf8')).toBe('two\n');
  expect(git(home, 'log', '--format=%s')).toBe('first\n');
});

test('a step that the run did not accept leaves nothing on other machines, nor on its own', async () => {
  const { left, right, roots } = await machines();
  await enter(left, 1);
  await writeFile(left.at('tracked.txt'), 'refused\n');
  await leaveOnly(left, 1);
  roots.refuse(1);
  await enter(right, 2);
  expect(await readFile(right.at('tracked.txt'), 'utf8')).toBe('two\n');
  await leave(right, 2);
  await enter(left, 3);
  expect(await readFile(left.at('tracked.txt'), 'utf8')).toBe('two\n');
});

test('steps of one machine share the clone; steps of another one wait for it', async () => {
  const { left, right, roots } = await machines();
  await enter(left, 1);
  await writeFile(left.at('tracked.txt'), 'first\n');
  await enter(left, 2);
  expect(await readFile(left.at('tracked.txt'), 'utf8')).toBe('first\n');
  const entering = enter(right, 3);
  await roots.refuses();
  await leave(left, 1);
  await roots.refuses();
  await writeFile(left.at('tracked.txt'), 'both\n');
  await leave(left, 2);
  expect(await entering).toBeUndefined();
  expect(await readFile(right.at('tracked.txt'), 'utf8')).toBe('both\n');
});

test('a step that begins while the end of another one is stored keeps its files', async () => {
  const { left, right, roots } = await machines();
  await enter(left, 1);
  await writeFile(left.at('first.txt'), 'x');
  // It was allowed to enter while the first step worked, but its turn comes after it.
  const [, , second] = await Promise.all([leaveOnly(left, 1), enter(left, 2), enter(left, 3)]);
  expect(second).toBeUndefined();
  expect(existsSync(left.at('first.txt'))).toBe(true);
  await writeFile(left.at('second.txt'), 'x');
  await leaveOnly(left, 2);
  await leaveOnly(left, 3);
  await enter(left, 4);
  expect(existsSync(left.at('second.txt'))).toBe(true);
  await writeFile(left.at('last.txt'), 'x');
  await leaveOnly(left, 4);
  // The ends are not stored in the order of the steps.
  for (const step of [4, 2, 3, 1]) roots.accept(step);
  await enter(right, 5);
  for (const name of ['first', 'second', 'last'])
    expect(existsSync(right.at(`${name}.txt`)), name).toBe(true);
});

test('a step that begins before one is adopted keeps its files', async () => {
  const { left } = await machines();
  await enter(left, 1);
  await writeFile(left.at('tracked.txt'), 'half\n');
  // Another process of the same machine continues.
  await enter({ ...left, place: left.again() }, 2);
  expect(await readFile(left.at('tracked.txt'), 'utf8')).toBe('half\n');
});

test('a git that was killed in the clone does not keep the next step from its files', async () => {
  const { left, right } = await machines();
  await enter(left, 1);
  commit(left.clone, 'second');
  await leave(left, 1);
  // As a killed `git commit`, `git gc` and `git checkout` leave them, and a killed `git init`.
  for (const lock of ['index', 'HEAD', 'packed-refs', 'refs/heads/main'])
    await writeFile(left.at('.git', `${lock}.lock`), '');
  await mkdir(right.at('.git'), { recursive: true });
  for (const [machine, step] of [
    [right, 2],
    [left, 3],
  ] as const) {
    expect(await enter(machine, step)).toBeUndefined();
    await writeFile(machine.at('new.txt'), `${step}`);
    commit(machine.clone, `commit ${step}`);
    expect(await leave(machine, step)).toBeUndefined();
  }
  expect(git(left.clone, 'log', '--format=%s')).toBe('commit 3\ncommit 2\nsecond\nfirst\n');
});

test.each([
  ['.git/commondir', (_clone: string, other: string) => other],
  ['.git', (_clone: string, other: string) => `gitdir: ${other}\n`],
])('a step cannot lead Raymond to another repository with %s', async (name, content) => {
  const { left } = await machines();
  await enter(left, 1);
  await rm(left.at(name), { recursive: true, force: true });
  await writeFile(left.at(name), content(left.clone, join(home, '.git')));
  const before = git(home, 'for-each-ref');
  expect(await leave(left, 1)).toContain('leads to another repository');
  expect(await enter(left, 2)).toBeUndefined();
  expect(await readFile(left.at('tracked.txt'), 'utf8')).toBe('two\n');
  await writeFile(left.at('new.txt'), 'x');
  commit(left.clone, 'second');
  expect(await leave(left, 2)).toBeUndefined();
  expect(git(home, 'for-each-ref')).toBe(before);
  expect(git(home, 'symbolic-ref', 'HEAD')).toBe('refs/heads/main\n');
});

test('a wait for files can be given up', async () => {
  const { left, right, roots } = await machines();
  await enter(left, 1);
  const stop = new AbortController();
  const entering = right.place.enter({ agent: 'main', step: 2 }, home, {
    signal: stop.signal,
    hasBegun: false,
  });
  await roots.refuses();
  stop.abort();
  expect(await entering).toMatch(/aborted/);
});

test('a step that has begun keeps the files that it finds', async () => {
  const { left } = await machines();
  await enter(left, 1);
  await writeFile(left.at('tracked.txt'), 'half\n');
  // The worker was killed, and adopts the step.
  const again = left.again();
  const how = { signal: never, hasBegun: true };
  expect(await again.enter({ agent: 'main', step: 1 }, home, how)).toBeUndefined();
  expect(await readFile(left.at('tracked.txt'), 'utf8')).toBe('half\n');
});

test('a repository without commits travels, and one that is on no branch', async () => {
  git(home, 'checkout', '-q', '--orphan', 'fresh');
  git(home, 'rm', '-rqf', '--cached', '.');
  const { left, right } = await machines();
  await enter(left, 1);
  expect(git(left.clone, 'symbolic-ref', 'HEAD')).toBe('refs/heads/fresh\n');
  commit(left.clone, 'born');
  git(left.clone, 'checkout', '-q', '--detach');
  await leave(left, 1);
  await enter(right, 2);
  expect(git(right.clone, 'rev-parse', 'HEAD')).toBe(git(left.clone, 'rev-parse', 'HEAD'));
  expect(() => git(right.clone, 'symbolic-ref', '-q', 'HEAD')).toThrow();
});

test('no program of the repository is executed, and no secret reaches a message or a file', async () => {
  const { left } = await machines();
  await enter(left, 1);
  const mark = join(root, 'executed');
  for (const [key, value] of [
    ['core.sshCommand', `touch '${mark}'; false`],
    ['credential.helper', `!touch '${mark}'`],
    ['core.fsmonitor', `touch '${mark}'`],
    [`url.ext::touch '${mark}'.insteadOf`, bare],
    ['remote.raymond.receivepack', `touch '${mark}'`],
    ['remote.raymond.uploadpack', `touch '${mark}'`],
    ['core.hooksPath', join(left.clone, 'hooks')],
  ] as const)
    git(left.clone, 'config', key, value);
  await mkdir(left.at('hooks'));
  for (const hook of ['pre-push', 'reference-transaction', 'post-index-change'])
    await writeFile(left.at('hooks', hook), `#!/bin/sh\ntouch '${mark}'\n`, { mode: 0o755 });
  expect(await leave(left, 1)).toBeUndefined();
  expect(await enter(left, 2)).toBeUndefined();
  expect(existsSync(mark)).toBe(false);

  const url = 'http://somebody:s3cr%2Ft@127.0.0.1:1/x.git';
  const ofRun = { run: RUN, remote: { url, folder: join(root, 'x') }, files: left.files };
  const taken = takeSnapshot(ofRun, left.clone, 'all');
  await expect(taken).rejects.toThrow(/127\.0\.0\.1/);
  await taken.catch(({ message }) => {
    for (const secret of ['s3cr', 'somebody']) expect(message).not.toContain(secret);
  });
  // grep finds no file.
  expect(spawnSync('grep', ['-rl', 's3cr', root]).status).toBe(1);
});

test('the name of a remote, an address and a path name a remote', async () => {
  expect(await addressOf('origin', home, home)).toBe(bare);
  expect(await addressOf('../../remote.git', home, home)).toBe(bare);
  expect(await addressOf('git@example.org:a/b.git', home, home)).toBe('git@example.org:a/b.git');
  expect(await addressOf('https://u:p@example.org/x', home, home)).toBe(
    'https://u:p@example.org/x',
  );
  expect(await addressOf('nowhere', home, home)).toBeUndefined();
  expect(await addressOf('ext::sh -c x', home, home)).toBeUndefined();
  expect(withoutSecrets('https://u:p@example.org/x')).toBe('https://example.org/x');
});

test('a remote forgets a run', async () => {
  const { left, remote } = await machines();
  await enter(left, 1);
  commit(left.clone, 'second');
  await leave(left, 1);
  expect(git(bare, 'for-each-ref')).toContain(`refs/raymond/${RUN}/`);
  await forget(remote, `refs/raymond/${RUN}/`);
  expect(git(bare, 'for-each-ref')).toBe('');
});

const never = new AbortController().signal;

interface Machine {
  readonly place: RunPlace;
  readonly clone: string;
  readonly roots: RootsInMemory;
  readonly files: ReturnType<typeof gitFileHistory>;
  at(...path: string[]): string;
  again(): RunPlace;
}

async function enter({ place }: Machine, step: number) {
  return place.enter({ agent: 'main', step }, home, { signal: never, hasBegun: false });
}

async function leave(machine: Machine, step: number) {
  const problem = await leaveOnly(machine, step);
  machine.roots.accept(step);
  return problem;
}

/** The end of the step is not stored. */
function leaveOnly({ place }: Machine, step: number) {
  return place.leave({ agent: 'main', step }, home, never);
}

async function machines() {
  const remote = { url: bare, folder: join(root, 'begin') };
  const files = gitFileHistory({ run: RUN, folder: join(root, 'begin', 'files') });
  const first = await takeSnapshot({ run: RUN, remote, files }, home, 'current');
  const roots = new RootsInMemory(first);
  const machine = (name: string): Machine => {
    const folder = join(root, name);
    const clone = join(folder, 'clone');
    const make = () => {
      const own = gitFileHistory({ run: RUN, folder: join(folder, 'files') });
      const ofRun = { run: RUN, remote: { url: bare, folder }, files: own };
      const place = clonedPlace({
        ...ofRun,
        root: home,
        clone,
        roots: roots.on(name),
        pausesMs: [],
      });
      return { own, place };
    };
    const { own, place } = make();
    return {
      ...{ place, clone, roots, files: own },
      at: (...path) => join(clone, ...path),
      again: () => make().place,
    };
  };
  return { left: machine('left'), right: machine('right'), roots, remote };
}

/** Snapshots count when the end of the step is accepted. */
class RootsInMemory {
  #refusals = 0;
  #snapshot: string;
  #holders = new Map<number, string>();
  #pending = new Map<number, () => string>();

  constructor(snapshot: string) {
    this.#snapshot = snapshot;
  }

  on(machine: string): CarriedRoots {
    return {
      hold: async ({ step }) => {
        if ([...this.#holders.values()].some((holder) => holder !== machine)) {
          this.#refusals += 1;
          return undefined;
        }
        const holders = [...this.#holders.keys()].map((held) => ({
          agent: 'main',
          step: held,
          hasBegunHere: true,
        }));
        this.#holders.set(step, machine);
        return { snapshot: this.#snapshot, holders };
      },
      keep: ({ step }, _, newest) => void this.#pending.set(step, newest),
    };
  }

  /** Waits until a machine has asked in vain. */
  refuses(): Promise<void> {
    const before = this.#refusals;
    return eventually('another machine waits', () => this.#refusals > before);
  }

  accept(step: number) {
    this.#snapshot = this.#pending.get(step)?.() ?? this.#snapshot;
    this.refuse(step);
  }

  refuse(step: number) {
    this.#pending.delete(step);
    this.#holders.delete(step);
  }
}

function commit(at: string, subject: string) {
  git(at, 'add', '-A');
  git(at, '-c', 'user.name=A', '-c', 'user.email=a@example.org', 'commit', '-qm', subject);
}

function git(at: string, ...args: string[]): string {
  return execFileSync('git', ['-C', at, ...args], { encoding: 'utf8', stdio: 'pipe' });
}
