import { expect, test } from 'vitest';
import { denyRules } from './deny-rules.ts';

test('writes absolute paths and escapes pattern characters', () => {
  const rules = denyRules(
    { projectFolder: '/work [1]/.raymond', filesOf: (ref) => [`${ref}/a*b.sh`] },
    { workflow: '/work [1]/flow', cwd: '/work [1]' },
  );
  expect(rules).toContain('Edit(//work \\[1\\]/flow/a\\*b.sh)');
  expect(rules).toContain('Write(//work \\[1\\]/.raymond/runs/*/[a-su-z0-9._-]*)');
  expect(rules).toContain('Edit(//work \\[1\\]/.raymond/w*)');
  expect(rules).toHaveLength(12);
});

test('an agent in a worktree can change files of worktrees', () => {
  const rules = denyRules(
    { projectFolder: '/project/.raymond', filesOf: () => [] },
    { workflow: '/project/flow', cwd: '/project/.raymond/worktrees/r/main_w1/sub' },
  );
  expect(rules).toHaveLength(6);
  expect(rules.some((rule) => rule.includes('/.raymond/w'))).toBe(false);
});
