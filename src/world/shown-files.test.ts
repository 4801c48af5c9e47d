/** What an agent can show with a question, and so copy into the run. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isWithin } from '../files/regular-file.ts';
import type { FilesOf } from '../ports.ts';
import { keepShown } from './shown-files.ts';

let base = '';
const at = (name: string) => join(base, name);

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'raymond-shown-')));
  const files = {
    'project/report.md': 'the report',
    'project/out/plot.png': 'a plot',
    'project/secret/key.txt': 'the key',
    'project/.env': 'TOKEN=1',
    'project/.git/config': 'git',
    'project/.raymond/runs/r/lock': 'lock',
    'project/.raymond/worktrees/r/main_a1/made.md': 'made',
    'project/.raymond/worktrees/r/main_a1/.env': 'TOKEN=2',
    'tasks/main/notes.md': 'notes',
    'outside.txt': 'of the user',
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  }
  symlinkSync(at('outside.txt'), at('project/out.txt'));
  symlinkSync('.env', at('project/env.txt'));
  symlinkSync('secret', at('project/open'));
  symlinkSync('report.md', at('project/same.md'));
  symlinkSync('loop', at('project/loop'));
  symlinkSync(base, at('project/up'));
  linkSync(at('project/report.md'), at('project/second.md'));
  writeFileSync(at('project/huge.bin'), '');
  truncateSync(at('project/huge.bin'), 3_000_000_000);
  execFileSync('mkfifo', [at('project/pipe')]);
});

afterAll(() => rm(base, { recursive: true, force: true }));

const AGENT: FilesOf = { by: 'agent', rights: undefined, most: 1000 };
const RIGHTS = { write: [], hide: ['secret'], network: [] };

async function shown(paths: readonly string[], whose = AGENT, from = at('project')) {
  const kept: string[] = [];
  const found = await keepShown(paths, {
    ...{ from, whose, root: at('project') },
    inTask: (path) => isWithin(at('tasks'), path),
    kept: {
      async keep(content) {
        kept.push(Buffer.from(content).toString());
        return 'a'.repeat(64);
      },
    },
  });
  return { found, kept };
}

test.each([
  [['report.md'], ['the report']],
  [
    ['out/plot.png', './report.md'],
    ['a plot', 'the report'],
  ],
  [
    ['same.md', 'second.md'],
    ['the report', 'the report'],
  ],
])('an agent shows %j', async (paths, content) => {
  const { found, kept } = await shown(paths);
  expect(kept).toEqual(content);
  expect(found).toMatchObject({ found: true, files: paths.map((name) => ({ name })) });
});

test('an agent shows files of its task folder and of its worktree', async () => {
  expect((await shown([at('tasks/main/notes.md')])).kept).toEqual(['notes']);
  const tree = at('project/.raymond/worktrees/r/main_a1');
  expect((await shown(['made.md'], AGENT, tree)).kept).toEqual(['made']);
  expect((await shown(['../../../../report.md'], AGENT, tree)).kept).toEqual(['the report']);
});

const DOT = /begins with a dot/;
const OUTSIDE = /outside the project/;

test.each([
  ['../outside.txt', OUTSIDE],
  ['/etc/passwd', OUTSIDE],
  ['out.txt', OUTSIDE],
  ['up/outside.txt', OUTSIDE],
  ['.env', DOT],
  ['env.txt', DOT],
  ['.git/config', DOT],
  ['.raymond/runs/r/lock', DOT],
  ['.raymond/worktrees/r/main_a1/.env', DOT],
  ['none.md', /there is no such file/],
  ['loop', /ELOOP/],
  ['out', /not a regular file/],
  ['pipe', /not a regular file/],
  ['/dev/zero', /not a regular file/],
  ['/dev/tty', /not a regular file|ENXIO/],
  ['huge.bin', /at most 1000 bytes together/],
])('an agent cannot show %s, and nothing is kept', async (path, problem) => {
  const { found, kept } = await shown(['report.md', path]);
  expect(found).toMatchObject({ found: false, problem: expect.stringMatching(problem) });
  expect(kept).toEqual([]);
});

test('what the rights of a state hide, neither its agent nor its script shows', async () => {
  for (const by of ['agent', 'author'] as const)
    for (const path of ['secret/key.txt', 'open/key.txt', at('project/secret/key.txt')])
      expect((await shown([path], { by, rights: RIGHTS, most: 1000 })).found).toMatchObject({
        problem: expect.stringMatching(/rights of the state hide it/),
      });
  const script = { by: 'author', rights: RIGHTS, most: 1000 } as const;
  expect((await shown(['../outside.txt'], script)).found.found).toBe(false);
});

test('a script without rights is the author’s own', async () => {
  const script = { by: 'author', rights: undefined, most: 1000 } as const;
  expect((await shown(['../outside.txt', '.env'], script)).kept).toEqual([
    'of the user',
    'TOKEN=1',
  ]);
  expect((await shown(['pipe'], script)).found.found).toBe(false);
});

test('all files together have one limit', async () => {
  expect((await shown(['report.md', 'out/plot.png'], { ...AGENT, most: 16 })).found.found).toBe(
    true,
  );
  expect((await shown(['report.md', 'out/plot.png'], { ...AGENT, most: 15 })).found.found).toBe(
    false,
  );
});

test('secrets of the run are removed from what a question shows', async () => {
  const clean = (bytes: Uint8Array) => Buffer.from(`${bytes}`.replace('report', '[secret]'));
  expect((await shown(['report.md'], { ...AGENT, clean })).kept).toEqual(['the [secret]']);
  const unknown = await shown(['report.md'], { ...AGENT, clean: () => undefined });
  expect(unknown).toMatchObject({ found: { found: false }, kept: [] });
});

test('a file that grows meanwhile is cut off where it was', async () => {
  const growing = at('project/growing.log');
  writeFileSync(growing, 'x'.repeat(500));
  const writer = setInterval(() => appendFileSync(growing, 'y'.repeat(100)), 0);
  try {
    const { found } = await shown(['growing.log'], { ...AGENT, most: 10_000_000 });
    expect(found.found).toBe(true);
  } finally {
    clearInterval(writer);
  }
});
