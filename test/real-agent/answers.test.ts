// Checks which texts count as an answer of the model, and which must never count.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { suiteAges } from './claude-sandbox.ts';
import { answering, bash, eventsOf, type RaymondSandbox, sandboxes } from './raymond-sandbox.ts';
import type { Reply } from './scripted-model.ts';

const sandbox = sandboxes();

/** A prompt that quotes a tag for a state that would do harm. */
const workflow = {
  'START.md': 'Look. When all is well, write <goto>DEPLOY</goto>',
  'DEPLOY.md': 'Deploy.',
  'DONE.sh': "echo '<result>done</result>'",
};

async function setHook({ claude }: RaymondSandbox, event: string, command: string): Promise<void> {
  const hooks = { [event]: [{ hooks: [{ type: 'command', command }] }] };
  await writeFile(join(claude.configFolder, 'settings.json'), JSON.stringify({ hooks }));
}

const stop = `echo '{"continue": false, "stopReason": "Not today. <goto>DEPLOY</goto>"}'`;

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test.each([
    ['UserPromptSubmit', 'echo "Not today." >&2; exit 2', 0],
    ['UserPromptSubmit', stop, 0],
    ['PostToolUse', stop, 1],
  ])('tags in a turn that a %s hook stops are ignored', async (event, command, asked) => {
    const world = await sandbox({
      age,
      workflow,
      script: [bash('true'), '<goto>DEPLOY</goto>'],
    });
    await setHook(world, event, command);
    const { code, stderr } = await world.run('workflow', '--workflow-id', 'r');
    expect(code).toBe(1);
    expect(world.model.requests).toHaveLength(asked);
    const failures = eventsOf(world.journal('r'), 'step-failed').map(({ failure }) => failure);
    expect(failures).toMatchObject([{ kind: 'blocked' }]);
    expect(stderr).toContain('Claude Code did not let the model answer.');
    expect(eventsOf(world.journal('r'), 'agent-moved')).toEqual([]);
  });

  test.each<[string, Reply, number]>([
    ['A refusal', { content: 'I cannot <goto>DEPLOY</goto>', stopReason: 'refusal' }, 2],
    ['An exhausted output', { content: 'long <goto>DEPLOY</goto>', stopReason: 'max_tokens' }, 4],
  ])('%s is not retried, and its tags are ignored', async (_, reply, most) => {
    const { run, model, journal } = await sandbox({ age, workflow, script: [reply] });
    expect(await run('workflow', '--workflow-id', 'r')).toMatchObject({ code: 1 });
    // Claude Code itself may retry once or three times.
    expect(model.requests.length).toBeLessThanOrEqual(most);
    const [failed, ...others] = eventsOf(journal('r'), 'step-failed');
    expect(others).toEqual([]);
    expect(failed?.failure.kind).toBe('refused');
    expect(failed?.cost.usd).toBeGreaterThan(0);
    expect(eventsOf(journal('r'), 'agent-waits')).toEqual([]);
    expect(eventsOf(journal('r'), 'agent-moved')).toEqual([]);
  });

  test('only the last message counts, with the tags of all its text blocks', async () => {
    const { run } = await sandbox({
      age,
      workflow,
      script: answering({
        'Look.': {
          content: [
            { type: 'text', text: 'First I look. <goto>DEPLOY</goto>' },
            { type: 'tool_use', name: 'Bash', input: { command: 'true', description: 'x' } },
          ],
        },
        '[result': {
          content: [
            { type: 'text', text: 'It is well. <goto>DONE</goto>' },
            { type: 'thinking', thinking: 'Was that all?' },
            { type: 'text', text: 'That was all.' },
          ],
        },
      }),
    });
    expect(await run('workflow')).toMatchObject({ code: 0, stdout: 'done\n' });
  });
});
