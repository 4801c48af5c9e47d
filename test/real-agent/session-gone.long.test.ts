// Claude Code deletes conversations after some time; a run may pause for longer.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import { type ClaudeSandbox, suiteAges } from './claude-sandbox.ts';
import { answering, conversationLines, eventsOf, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

function forget({ configFolder }: ClaudeSandbox): void {
  const projects = join(configFolder, 'projects');
  for (const folder of readdirSync(projects)) rmSync(join(projects, folder), { recursive: true });
}

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test.each(
    inSuite(
      [['a session that is branched', '<call return="END">TWO</call>']],
      [['a session that continues', '<goto>TWO</goto>']],
    ),
  )('%s and no longer exists is not retried, and can be given up', async (_, tag) => {
    const { run, model, journal, claude } = await sandbox({
      age,
      workflow: {
        'START.md': 'Do one.',
        'TWO.md': 'Do two with {{input}}.',
        'END.md': 'It is {{input}}.',
      },
      script: answering({
        'Do one': tag.replace('>TWO', ' input="a pen">TWO'),
        'Do two': '<result>done</result>',
        'It is done.': '<result>done</result>',
      }),
    });
    const args = ['--workflow-id', 'r', '--max-iterations', '1'];
    expect(await run('workflow', ...args)).toMatchObject({ code: 3 });
    forget(claude);

    const { code, stderr } = await run('resume', 'r', '--max-iterations', '2');
    expect(code).toBe(1);
    expect(stderr).toContain('Resume with --fresh');
    const failures = eventsOf(journal('r'), 'step-failed').map(({ failure }) => failure.kind);
    expect(failures).toEqual(['session-gone']);
    expect(model.requests).toHaveLength(1);

    const resumed = await run('resume', 'r', '--fresh', '--max-iterations', '9');
    expect(resumed).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(conversationLines(model.requests[1])).toEqual(['user: Do two with a pen.']);
  });
});

test('no session is given up unless an agent has failed', async () => {
  const { run } = await sandbox({
    age: 'newer',
    workflow: { 'START.md': 'Do one.', 'TWO.md': 'Do two.' },
    script: ['<goto>TWO</goto>'],
  });
  await run('workflow', '--workflow-id', 'r', '--max-iterations', '1');
  const { code, stderr } = await run('resume', 'r', '--fresh');
  expect(code).toBe(64);
  expect(stderr).toContain('No agent of r has failed, so --fresh has no effect.');
});
