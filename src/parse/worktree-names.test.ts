import { expect, test } from 'vitest';
import { baseProblem, isBranchPart, worktreeNameProblem } from './worktree-names.ts';

test.each(['true', 'a', 'fix-1', 'A.b_c', 'größe', '修正', '1', 'x'.repeat(200)])(
  '%s can name a worktree',
  (name) => {
    expect(worktreeNameProblem(name)).toBeUndefined();
  },
);

test.each([
  '',
  ' ',
  'a b',
  '-b',
  '--force',
  '.',
  '..',
  '.hidden',
  'a..b',
  'a.',
  'a.lock',
  'a.LOCK',
  'a/b',
  '../../etc',
  'a\\b',
  'a~1',
  'a^',
  'a:b',
  'a?',
  'a*',
  'a[b',
  'a@{b',
  'a\nb',
  'a\0b',
  '$(touch x)',
  '`id`',
  '\u202Eb',
  'x'.repeat(201),
  'ä'.repeat(101),
])('%j cannot name a worktree', (name) => {
  expect(worktreeNameProblem(name)).toContain('cannot name a worktree');
  expect(isBranchPart(name)).toBe(false);
});

test('"false" is refused with a hint, because a child would get a worktree of this name', () => {
  expect(worktreeNameProblem('false')).toContain('leave it out');
});

test.each(['main', 'origin/main', 'v1.0', 'HEAD', 'HEAD~2', 'HEAD^', '@{-1}', 'a1b2c3d', 'größe'])(
  '%s can be a base',
  (base) => {
    expect(baseProblem(base)).toBeUndefined();
  },
);

test.each([
  '-b',
  '--upload-pack=x',
  ':/fix',
  'main:file',
  'HEAD^{/(a+)+$}',
  'a b',
  'a\nb',
  'a\0b',
  'a*',
  'x'.repeat(251),
])('%j cannot be a base', (base) => {
  expect(baseProblem(base)).toContain('cannot be a base');
});
