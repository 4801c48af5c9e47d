import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { forgetFiles, gitFileHistory } from '../../src/execute/git/file-history.ts';
import { Repository } from './repository.ts';

function historyOf(repository: Repository) {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-indexes-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = gitFileHistory({ run: 'flow-1', folder });
  const root = repository.folder;
  return {
    folder,
    files,
    record: () => files.record(root),
    restore: (tree: string) => files.restore(root, tree),
    /** Another process. */
    again: () => gitFileHistory({ run: 'flow-1', folder }),
  };
}

const read = (repository: Repository, path: string) =>
  readFileSync(join(repository.folder, path), 'utf8');

test('changed, deleted, new and renamed files come back, and equal files are not touched', async () => {
  const repository = new Repository();
  for (const name of ['same', 'changed', 'deleted', 'folder/inner']) repository.write(name, name);
  repository.commit();
  repository.write('untracked', 'before');
  const { record, restore } = historyOf(repository);
  const tree = await record();
  const { mtimeMs, ino } = statSync(join(repository.folder, 'same'));
  repository.write('changed', 'other');
  repository.write('untracked', 'after');
  repository.write('new/deep/file', 'new');
  rmSync(join(repository.folder, 'deleted'));
  rmSync(join(repository.folder, 'folder'), { recursive: true });
  repository.write('folder', 'a file now');
  await restore(tree);
  expect(read(repository, 'changed')).toBe('changed');
  expect(read(repository, 'deleted')).toBe('deleted');
  expect(read(repository, 'untracked')).toBe('before');
  expect(read(repository, 'folder/inner')).toBe('folder/inner');
  expect(existsSync(join(repository.folder, 'new'))).toBe(false);
  expect(statSync(join(repository.folder, 'same'))).toMatchObject({ mtimeMs, ino });
});

test('ignored files are left alone', async () => {
  const repository = new Repository();
  repository.write('.gitignore', 'build/\n*.log\n');
  repository.commit();
  const { record, restore } = historyOf(repository);
  const tree = await record();
  repository.write('build/out', 'built');
  repository.write('a.log', 'logged');
  repository.write('b', 'new');
  await restore(tree);
  expect(read(repository, 'build/out')).toBe('built');
  expect(read(repository, 'a.log')).toBe('logged');
  expect(existsSync(join(repository.folder, 'b'))).toBe(false);
});

test('an ignored file in the way of a recorded one is stored before it is overwritten', async () => {
  const repository = new Repository();
  repository.write('notes', 'recorded');
  repository.write('x', 'x');
  const { record, restore, files } = historyOf(repository);
  const tree = await record();
  rmSync(join(repository.folder, 'notes'));
  await record();
  repository.write('.gitignore', 'notes\n');
  repository.write('notes', 'ignored');
  const before = await files.record(repository.folder, tree);
  await restore(tree);
  expect(read(repository, 'notes')).toBe('recorded');
  await restore(before);
  expect(read(repository, 'notes')).toBe('ignored');
});

test.each(['recorded', 'ignored'])('a link in the place of a folder, %s', async (kind) => {
  const repository = new Repository();
  const outside = makeFolder(repository, '.git/outside');
  writeFileSync(join(outside, 'f'), 'outside');
  repository.write('dir/f', 'inside');
  const { record, restore, files } = historyOf(repository);
  const tree = await record();
  const link = join(repository.folder, 'dir');
  rmSync(link, { recursive: true });
  if (kind === 'ignored') repository.write('.gitignore', 'dir\n');
  symlinkSync(outside, link);
  const now = await files.record(repository.folder, tree);
  await restore(tree);
  expect(lstatSync(link).isDirectory()).toBe(true);
  expect(read(repository, 'dir/f')).toBe('inside');
  await restore(now);
  expect(readlinkSync(link)).toBe(outside);
  expect(readFileSync(join(outside, 'f'), 'utf8')).toBe('outside');
});

test('a file that only the goal ignores is left alone', async () => {
  const repository = new Repository();
  repository.write('a', '1');
  const { record, restore } = historyOf(repository);
  const before = await record();
  repository.write('.gitignore', 'größe\nbuild/\n');
  repository.write('größe', 'kept');
  repository.write('build/out', 'kept');
  const after = await record();
  await restore(before);
  repository.write('new', 'x');
  await restore(after);
  expect(['größe', 'build/out'].map((name) => read(repository, name))).toEqual(['kept', 'kept']);
  expect(existsSync(join(repository.folder, 'new'))).toBe(false);
});

test('the index, HEAD, stash, branches, configuration and hooks of the user stay', async () => {
  const repository = new Repository();
  repository.write('a', '1');
  repository.commit();
  repository.write('a', '2');
  repository.git('add', 'a');
  repository.write('a', '3');
  const traces = mkdtempSync(join(tmpdir(), 'raymond-traces-'));
  onTestFinished(() => rmSync(traces, { recursive: true }));
  for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction']) {
    const path = join(repository.folder, '.git/hooks', hook);
    mkdirSync(join(repository.folder, '.git/hooks'), { recursive: true });
    writeFileSync(path, `#!/bin/sh\ntouch ${traces}/hook-ran\n`);
    chmodSync(path, 0o755);
  }
  repository.git('config', 'filter.evil.clean', `touch ${traces}/filter-ran; cat`);
  const own = () => ['index', 'HEAD', 'config'].map((name) => read(repository, `.git/${name}`));
  const before = own();
  const { record, restore } = historyOf(repository);
  const tree = await record();
  repository.write('a', '4');
  repository.write('b', 'new');
  await restore(tree);
  expect(read(repository, 'a')).toBe('3');
  expect(own()).toEqual(before);
  expect(repository.git('for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/stash')).toBe(
    'refs/heads/main\n',
  );
  expect(readdirSync(traces)).toEqual([]);
  expect(repository.git('status', '--porcelain')).toBe('MM a\n');
});

test('names with spaces, umlauts, newlines and bytes that are no text come back', async () => {
  const repository = new Repository();
  const names = ['a b', 'größe', 'two\nlines', ' lead', 'quote"\'', '-dash', ':(top)x', '*?['];
  for (const name of names) repository.write(name, name);
  const strange = Buffer.concat([Buffer.from(`${repository.folder}/`), Buffer.from([0xff, 0x41])]);
  writeFileSync(strange, 'bytes');
  const { record, restore } = historyOf(repository);
  const tree = await record();
  for (const name of names) rmSync(join(repository.folder, name));
  rmSync(strange);
  await restore(tree);
  expect(names.map((name) => read(repository, name))).toEqual(names);
  expect(readFileSync(strange, 'utf8')).toBe('bytes');
});

test('links and permissions come back', async () => {
  const repository = new Repository();
  repository.write('run.sh', '#!/bin/sh\n');
  chmodSync(join(repository.folder, 'run.sh'), 0o755);
  symlinkSync('/nowhere', join(repository.folder, 'link'));
  const { record, restore } = historyOf(repository);
  const tree = await record();
  chmodSync(join(repository.folder, 'run.sh'), 0o644);
  rmSync(join(repository.folder, 'link'));
  repository.write('link', 'a file');
  await restore(tree);
  expect(statSync(join(repository.folder, 'run.sh')).mode & 0o111).toBe(0o111);
  expect(lstatSync(join(repository.folder, 'link')).isSymbolicLink()).toBe(true);
  expect(readlinkSync(join(repository.folder, 'link'))).toBe('/nowhere');
});

test('a repository without commits, and with none of its files left', async () => {
  const repository = new Repository();
  const { record, restore } = historyOf(repository);
  const empty = await record();
  repository.write('a', 'a');
  const one = await record();
  await restore(empty);
  expect(existsSync(join(repository.folder, 'a'))).toBe(false);
  await restore(one);
  expect(read(repository, 'a')).toBe('a');
});

test('nested repositories, submodules and very large new files are left alone', async () => {
  const inner = new Repository();
  inner.write('i', '1');
  inner.commit();
  const repository = new Repository();
  repository.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner.folder, 'sub');
  repository.commit();
  new Repository(join(makeFolder(repository, 'nested'))).write('n', '1');
  repository.write('huge', '');
  truncateSync(join(repository.folder, 'huge'), 101 * 1024 * 1024);
  const { record, restore } = historyOf(repository);
  const tree = await record();
  repository.write('sub/i', '2');
  repository.write('nested/n', '2');
  repository.write('a', 'a');
  await restore(tree);
  expect(read(repository, 'sub/i')).toBe('2');
  expect(read(repository, 'nested/n')).toBe('2');
  expect(statSync(join(repository.folder, 'huge')).size).toBe(101 * 1024 * 1024);
  expect(existsSync(join(repository.folder, 'a'))).toBe(false);
  expect(repository.git('ls-tree', '-r', '--name-only', tree)).toBe('.gitmodules\nsub\n');
});

function makeFolder(repository: Repository, name: string): string {
  mkdirSync(join(repository.folder, name));
  return join(repository.folder, name);
}

test('files outside of a sparse checkout stay outside', async () => {
  const repository = new Repository();
  repository.write('in/a', '1');
  repository.write('out/b', '1');
  repository.commit();
  repository.git('sparse-checkout', 'set', 'in');
  const { record, restore } = historyOf(repository);
  const tree = await record();
  repository.write('in/a', '2');
  repository.write('out/new', 'new');
  const later = await record();
  await restore(tree);
  expect(read(repository, 'in/a')).toBe('1');
  expect(existsSync(join(repository.folder, 'out'))).toBe(false);
  await restore(later);
  expect(read(repository, 'out/new')).toBe('new');
  expect(existsSync(join(repository.folder, 'out/b'))).toBe(false);
});

test('a merge in progress can be recorded, and stays in progress', async () => {
  const repository = new Repository();
  repository.write('a', 'base\n');
  repository.commit();
  repository.git('checkout', '-qb', 'other');
  repository.write('a', 'theirs\n');
  repository.commit();
  repository.git('checkout', '-q', 'main');
  repository.write('a', 'ours\n');
  repository.commit();
  expect(() => repository.git('merge', '-q', 'other')).toThrow();
  const { record, restore } = historyOf(repository);
  const tree = await record();
  const conflict = read(repository, 'a');
  repository.write('a', 'solved\n');
  await restore(tree);
  expect(read(repository, 'a')).toBe(conflict);
  expect(repository.git('status', '--porcelain')).toBe('UU a\n');
});

test('garbage collection keeps the records until the run is pruned', async () => {
  const repository = new Repository();
  repository.write('a', 'only here');
  const { record, restore, folder } = historyOf(repository);
  const tree = await record();
  repository.git('gc', '-q', '--prune=now');
  rmSync(join(repository.folder, 'a'));
  await restore(tree);
  expect(read(repository, 'a')).toBe('only here');
  await forgetFiles('flow-1', folder);
  expect(repository.git('for-each-ref')).toBe('');
  repository.git('gc', '-q', '--prune=now');
  await expect(restore(tree)).rejects.toThrow();
});

test('files that were not recorded for the run are not restored', async () => {
  const repository = new Repository();
  repository.write('a', 'a');
  repository.commit();
  const { restore } = historyOf(repository);
  const tree = repository.git('rev-parse', 'HEAD^{tree}').trim();
  await expect(restore(tree)).rejects.toThrow();
  await expect(restore('HEAD')).rejects.toThrow('is not the id of files');
});

test('a restore that was killed in its middle is finished by the next one', async () => {
  const repository = new Repository();
  for (let n = 0; n < 20; n++) repository.write(`f${n}`, 'before');
  const { record, restore, again, folder } = historyOf(repository);
  const tree = await record();
  for (let n = 0; n < 20; n++) repository.write(`f${n}`, 'after');
  await record();
  // As git leaves it: some files are back, and its lock exists.
  for (let n = 0; n < 10; n++) repository.write(`f${n}`, 'before');
  const [place = ''] = readdirSync(folder);
  writeFileSync(join(folder, place, 'index.lock'), 'torn');
  const ref = join(repository.folder, '.git/refs/raymond/flow-1', `${tree}.lock`);
  writeFileSync(ref, '');
  await again().restore(repository.folder, tree);
  for (let n = 0; n < 20; n++) expect(read(repository, `f${n}`)).toBe('before');
  rmSync(ref);
  await restore(tree);
});

test('a worktree is a tree of its own, and a folder without a repository has no root', async () => {
  const repository = new Repository();
  repository.write('a', 'a');
  repository.commit();
  const { files } = historyOf(repository);
  const tree = join(repository.folder, 'tree');
  repository.git('worktree', 'add', '-q', tree);
  mkdirSync(join(tree, 'deep'));
  expect(files.rootOf(join(tree, 'deep'))).toBe(tree);
  expect(files.rootOf(repository.folder)).toBe(repository.folder);
  expect(files.rootOf(join(repository.folder, 'missing'))).toBeUndefined();
  expect(files.rootOf('/')).toBeUndefined();
  const record = await files.record(tree);
  writeFileSync(join(tree, 'a'), 'changed');
  await files.restore(tree, record);
  expect(readFileSync(join(tree, 'a'), 'utf8')).toBe('a');
  expect(execFileSync('git', ['-C', tree, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('');
});
