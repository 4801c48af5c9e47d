import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Protected, ProtectedStep } from '../agents/protected-files.ts';
import { denyRules as parts } from './deny-rules.ts';

/** All rules of a process. */
const denyRules = (...given: Parameters<typeof parts>) => {
  const { fixed, states } = parts(...given);
  return [...fixed, ...states];
};

const given = (parts: Partial<Protected> = {}): Protected => ({
  projectFolder: '/p/.raymond',
  userFolder: '/home/u/.local/state/raymond',
  reached: () => ({ files: [], text: '' }),
  ...parts,
});
const step = (parts: Partial<ProtectedStep> = {}): ProtectedStep => ({
  places: [],
  cwd: '/p',
  taskFolder: '/home/u/.local/state/raymond/tasks/p-1/r/main',
  skipPermissions: false,
  ...parts,
});

test('writes absolute paths and escapes pattern characters', () => {
  const rules = denyRules(
    given({
      projectFolder: '/work [1]/.raymond',
      reached: () => ({ files: ['/work [1]/flow/a*b.sh'], text: '' }),
    }),
    step({ cwd: '/work [1]' }),
  );
  expect(rules).toContain('Edit(//work \\[1\\]/flow/a\\*b.sh)');
  expect(rules).toContain('Edit(//work \\[1\\]/.raymond)');
  expect(rules).toContain('Edit(//work \\[1\\]/**/.git)');
});

test('hides the folder of the user, except the task folders', () => {
  const others = '[abcdefghijklmnopqrsuvwxyz0-9._-]*';
  for (const tool of ['Read', 'Edit'])
    expect(denyRules(given(), step())).toContain(
      `${tool}(//home/u/.local/state/raymond/${others})`,
    );
});

test('protects command files in the project, the directory, the task folder and further folders', () => {
  const rules = denyRules(given({ folders: ['/library'] }), step({ cwd: '/other' }));
  for (const root of ['/p', '/other', '/library', step().taskFolder])
    expect(rules).toContain(`Edit(/${root}/**/.npmrc)`);
});

test('an agent without limits is denied only the files of Raymond and of the run', () => {
  const rules = denyRules(given(), step({ skipPermissions: true }));
  expect(rules.filter((rule) => rule.includes('**'))).toEqual([]);
  expect(rules).toContain('Edit(//p/.raymond)');
});

test('an agent in a worktree can change files of worktrees', () => {
  const rules = denyRules(given(), step({ cwd: '/p/.raymond/worktrees/r/main_w1/sub' }));
  expect(rules).not.toContain('Edit(//p/.raymond)');
  expect(rules).toContain('Edit(//p/.raymond/[abcdefghijklmnopqrstuvxyz0-9._-]*)');
});

test('an agent above the project folder cannot move what is between them', () => {
  const rules = denyRules(given({ projectFolder: '/p/a/b/.raymond' }), step());
  expect(rules).toContain('Edit(//p/a/b)');
  expect(rules).toContain('Edit(//p/a)');
  expect(rules).not.toContain('Edit(//p)');
});

test('a state has no rule if a prompt names another spelling of it, or a file has one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-rules-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'flow'));
  const odd = 'Ü (b) + c.md';
  for (const name of ['PLAN.md', 'DO.md', 'NOTES.md', 'notes.md', odd])
    writeFileSync(join(folder, 'flow', name), name);
  const files = ['PLAN.md', 'DO.md', 'NOTES.md', odd].map((name) => join(folder, 'flow', name));
  const rulesFor = (text: string) =>
    denyRules(given({ reached: () => ({ files, text }) }), step())
      .filter((rule) => rule.endsWith('.md)'))
      .map((rule) => rule.slice(rule.lastIndexOf('/') + 1, -1));
  expect(rulesFor('Read PLAN.md and write my-plan.md.')).toEqual(['PLAN.md', 'DO.md', odd]);
  expect(rulesFor('Write `plan.md`, then go on.')).toEqual(['DO.md', odd]);
  expect(rulesFor('Write "ü (b) + c.md".')).toEqual(['PLAN.md', 'DO.md']);
});
