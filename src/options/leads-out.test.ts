import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leadsOut } from './leads-out.ts';

const base = mkdtempSync(join(tmpdir(), 'raymond leads out '));
const folder = join(base, 'project');
mkdirSync(join(folder, 'sub'), { recursive: true });
writeFileSync(join(base, 'secret'), '');
symlinkSync('sub', join(folder, 'inside'));
symlinkSync('..', join(folder, 'up'));
symlinkSync('../secret', join(folder, 'secret'));
symlinkSync('../not-there', join(folder, 'dangling'));
symlinkSync('loop', join(folder, 'loop'));
symlinkSync('.husky', join(folder, 'hooks'));
mkdirSync(join(folder, '.husky'));
symlinkSync(folder, join(base, 'same'));

test.each([
  ['raymond.log', false],
  ['logs/not/there/yet.log', false],
  ['sub/../raymond.log', false],
  ['inside/raymond.log', false],
  [join(folder, 'raymond.log'), false],
  [join(base, 'same/raymond.log'), false],
  ['..gitignore', false],
  ['../raymond.log', true],
  ['/etc/raymond.log', true],
  ['~/raymond.log', false],
  ['up/raymond.log', true],
  ['secret', true],
  ['dangling', true],
  ['dangling/raymond.log', true],
  ['loop', true],
  ['.git/hooks/pre-commit', true],
  ['sub/.GIT/config', true],
  ['.raymond/state/r.jsonl', true],
  ['.husky/pre-commit', true],
  ['sub/.claude/settings.json', true],
  ['sub/.envrc', true],
  ['sub/Opencode.json', true],
  ['hooks/raymond.log', true],
])('%s leads out: %s', (path, expected) => {
  expect(leadsOut(path, folder)).toBe(expected);
});
