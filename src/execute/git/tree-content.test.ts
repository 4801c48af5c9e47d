import { execFileSync } from 'node:child_process';
import {
  chmodSync,
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
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd });

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

test('no program of the repository is executed', async () => {
  const made = repository();
  const ran = join(made, 'ran');
  const program = join(made, '.git', 'program');
  writeFileSync(program, `#!/bin/sh\necho ran >> '${ran}'\n`);
  chmodSync(program, 0o755);
  git(made, 'config', 'core.fsmonitor', program);
  await treeContent(made);
  git(made, 'config', 'filter.evil.clean', program);
  writeFileSync(join(made, '.gitattributes'), 'a filter=evil\n');
  await expect(treeContent(made)).rejects.toThrow();
  expect(readdirSync(made)).not.toContain('ran');
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
