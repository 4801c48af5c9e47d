import { expect, test } from 'vitest';
import { answering, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

test('a run with the real agent can be recorded as a test that needs no agent', async () => {
  const { run, model } = await sandbox({
    age: 'newer',
    workflow: {
      'START.md': 'Do one.',
      'TWO.sh': `echo "<goto>THREE</goto>"`,
      'THREE.md': 'Do three.',
    },
    script: answering({ 'Do one.': '<goto>TWO</goto>', 'Do three.': 'So: <result>done</result>' }),
  });
  expect(await run('workflow', '--workflow-id', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(await run('test', '--record', 'r')).toMatchObject({ code: 0 });
  const replayed = await run('test', 'workflow');
  expect(replayed.stdout).toContain('1 passed');
  expect(replayed.code).toBe(0);
  expect(model.requests).toHaveLength(2);
});
