import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { armRepository } from '../../../test/armed-repository.ts';
import { treeContent } from './tree-content.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'content ü '));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function repository(): string {
  const made = folder();
  git(made, 'init', '-q');
  writeFileSync(join(made, '.gitignore'), 'ignored\n');
  writeFileSync(join(made, 'a'), '1');
  mkdirSync(join(made, 'sub'));
  return made;
}

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
    cwd,
    stdio: 'pipe',
  });

const objects = (made: string) =>
  readdirSync(join(made, '.git/objects'), { recursive: true }).length;

test('in a repository, changed and new files count, ignored files and commits do not', async () => {
  const made = repository();
  const before = objects(made);
  const first = await treeContent(join(made, 'sub'));
  writeFileSync(join(made, 'ignored'), 'x');
  expect(await treeContent(made)).toBe(first);
  expect(objects(made)).toBe(before);

  git(made, 'add', '--all');
  git(made, 'commit', '-qm', 'first');
  expect(await treeContent(made)).toBe(first);
  writeFileSync(join(made, 'a'), '2');
  const second = await treeContent(made);
  expect(second).not.toBe(first);
  writeFileSync(join(made, 'new'), '');
  expect(await treeContent(made)).not.toBe(second);
  rmSync(join(made, 'new'));
  writeFileSync(join(made, 'a'), '1');
  expect(await treeContent(made)).toBe(first);
  expect(execFileSync('git', ['status', '--porcelain'], { cwd: made, encoding: 'utf8' })).toBe('');
});

test('no program of the repository or of a nested one is executed, and the nested files count', async () => {
  const made = repository();
  const beside = mkdtempSync(join(tmpdir(), 'content-'));
  onTestFinished(() => rmSync(beside, { recursive: true, force: true }));
  const mark = join(beside, 'mark');
  for (const name of ['module', 'module/deeper', 'untracked']) {
    mkdirSync(join(made, name));
    git(join(made, name), 'init', '-q');
    writeFileSync(join(made, name, 'file'), '1');
    git(join(made, name), 'add', 'file');
    git(join(made, name), 'commit', '-qm', 'first');
  }
  git(made, 'add', 'module');
  git(made, 'commit', '-qm', 'with a module');
  for (const name of ['.', 'module', 'module/deeper', 'untracked'])
    armRepository(join(made, name), mark);
  const seen = [await treeContent(made)];
  for (const name of ['a', 'module/file', 'module/deeper/file', 'untracked/file']) {
    writeFileSync(join(made, name), 'changed');
    seen.push(await treeContent(made));
  }
  expect(new Set(seen).size).toBe(5);
  expect(existsSync(mark)).toBe(false);
  // The marks work.
  expect(() => git(join(made, 'module'), 'add', 'file')).toThrow();
  expect(existsSync(mark)).toBe(true);
});

test('a repository cannot name another folder as its tree', async () => {
  const made = repository();
  const other = folder();
  git(made, 'config', 'core.worktree', other);
  const seen = await treeContent(made);
  writeFileSync(join(other, 'new'), 'x');
  expect(await treeContent(made)).toBe(seen);
});

test('outside a repository all files count, also their names and links, but not those of Raymond', async () => {
  const made = folder();
  writeFileSync(join(made, 'a'), '1');
  const seen = [await treeContent(made)];
  mkdirSync(join(made, '.raymond'));
  writeFileSync(join(made, '.raymond', 'state'), 'x');
  expect(await treeContent(made)).toBe(seen[0]);
  symlinkSync('nowhere', join(made, 'link'));
  seen.push(await treeContent(made));
  rmSync(join(made, 'link'));
  symlinkSync('elsewhere', join(made, 'link'));
  seen.push(await treeContent(made));
  writeFileSync(join(made, 'a'), '2');
  seen.push(await treeContent(made));
  expect(new Set(seen).size).toBe(4);
});
