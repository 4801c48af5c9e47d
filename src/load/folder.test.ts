import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFolder } from './folder.ts';

let root: string;
let contents: Map<string, string>;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'raymond-folder-'));
  const folder = join(root, 'Flüsse und Seen');
  await mkdir(join(folder, 'sub.md'), { recursive: true });
  await writeFile(join(root, 'OUTSIDE.md'), 'secret');
  await mkdir(join(root, 'Flüsse und Seen 2'));
  await writeFile(join(root, 'Flüsse und Seen 2', 'SIBLING.md'), 'secret');
  await writeFile(join(folder, 'START.md'), 'Begin.');
  await writeFile(join(folder, 'Ä b.sh'), 'echo');
  await writeFile(join(folder, 'sub.md', 'DEEP.md'), 'deep');
  await writeFile(join(folder, '.hidden.md'), 'hidden');
  await writeFile(join(folder, 'notes.txt'), 'notes');
  await writeFile(join(folder, 'LARGE.md'), Buffer.alloc(4 * 1024 * 1024 + 1, 'a'));
  await symlink('START.md', join(folder, 'INSIDE.md'));
  await symlink('sub.md/DEEP.md', join(folder, 'BELOW.md'));
  await symlink('../OUTSIDE.md', join(folder, 'LEAVES.md'));
  await symlink('../Flüsse und Seen 2/SIBLING.md', join(folder, 'NEXT_DOOR.md'));
  await symlink('nothing.md', join(folder, 'DANGLING.md'));
  await symlink('sub.md', join(folder, 'FOLDER.md'));
  if (process.platform !== 'win32') {
    execFileSync('/bin/bash', ['-c', 'mkfifo PIPE.sh pipe'], { cwd: folder });
    await symlink('pipe', join(folder, 'PIPE_LINK.md'));
  }
  await symlink(folder, join(root, 'link'));
  contents = new Map(
    (await readFolder(join(root, 'link'))).map(({ name, content }) => [
      name,
      'bytes' in content ? Buffer.from(content.bytes).toString() : JSON.stringify(content),
    ]),
  );
});
afterAll(() => rm(root, { recursive: true }));

test.each([
  ['START.md', 'Begin.'],
  ['Ä b.sh', 'echo'],
  ['INSIDE.md', 'Begin.'],
  ['BELOW.md', 'deep'],
])('%s is read', (name, text) => {
  expect(contents.get(name)).toBe(text);
});

test.each([
  ['LEAVES.md', 'leaves the folder'],
  ['NEXT_DOOR.md', 'leaves the folder'],
  ['DANGLING.md', 'cannot be read'],
  ['FOLDER.md', 'not a regular file'],
  ['LARGE.md', 'larger than 4 MiB'],
])('%s cannot be used', (name, problem) => {
  expect(contents.get(name)).toContain(problem);
  expect(contents.get(name)).toContain('remedy');
});

test.runIf(process.platform !== 'win32')('reading does not wait for a pipe', () => {
  expect(contents.get('PIPE_LINK.md')).toContain('not a regular file');
});

test.each(['.hidden.md', 'notes.txt', 'sub.md', 'DEEP.md', 'PIPE.sh'])(
  '%s is not a state',
  (name) => {
    expect(contents.has(name)).toBe(false);
  },
);
