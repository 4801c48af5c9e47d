import { expect, test } from 'vitest';
import { denyRules } from './deny-rules.ts';

test('writes absolute paths and escapes pattern characters', () => {
  const rules = denyRules(
    { projectFolder: '/work [1]/.raymond', filesOf: (ref) => [`${ref}/a*b.sh`] },
    '/work [1]/flow',
  );
  expect(rules).toContain('Edit(//work \\[1\\]/flow/a\\*b.sh)');
  expect(rules).toContain('Write(//work \\[1\\]/.raymond/runs/*/[a-su-z0-9._-]*)');
  expect(rules).toHaveLength(9);
});
