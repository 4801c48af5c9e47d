import { writeFileSync } from 'node:fs';
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

test('a run with the real agent is played again on a changed workflow, without the agent', async () => {
  const policy = '---\nallowed_transitions: [{ tag: goto, target: TWO }, { tag: result }]\n---\n';
  const { run, model, file } = await sandbox({
    age: 'newer',
    workflow: { 'START.md': `${policy}Do one.`, 'TWO.md': 'Do two in {{task_folder}}.' },
    script: answering({ 'Do one.': '<goto>TWO</goto>', 'Do two': 'So: <result>done</result>' }),
  });
  expect(await run('workflow', '--workflow-id', 'r')).toMatchObject({ code: 0, stdout: 'done\n' });
  const again = async () => {
    const { code, stdout } = await run('test', 'workflow', '--against-runs', '--json');
    return { code, ...JSON.parse(stdout) };
  };
  expect(await again()).toMatchObject({ code: 0, run: 'r', result: 'same', not_kept: [] });
  // Only its front matter has changed, so the agent would get the same prompt.
  writeFileSync(file('workflow/TWO.md'), '---\nmax_visits: 3\n---\nDo two in {{task_folder}}.');
  writeFileSync(file('workflow/START.md'), `${policy.replace('goto', 'reset')}Do one.`);
  expect(await again()).toMatchObject({
    code: 1,
    elsewhere: [{ agent: 'main', step: 1, cause: 'policy', was: 'TWO.md', now: 'a reminder' }],
    open: [],
  });
  const lint = await run('lint', 'workflow', '--against-runs');
  expect(lint.stdout).toMatch(/START\.md:2:\d+: warning: .* \[refused-answer\]/);
  writeFileSync(file('workflow/START.md'), `${policy}Do one thing.`);
  expect(await again()).toMatchObject({ code: 0, open: [{ step: 1, cause: 'template' }] });
  expect(model.requests).toHaveLength(2);
});
