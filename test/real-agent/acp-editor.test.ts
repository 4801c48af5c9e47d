// The real agent works in a run that an editor drives through `raymond acp`.
import { describe, expect, test } from 'vitest';
import { acpEditor } from '../acp/acp-editor.ts';
import { call, timesOf } from './asking-run.ts';
import { suiteAges } from './claude-sandbox.ts';
import { answering, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

describe.each(suiteAges)('with the %s Claude Code', (age) => {
  test('the editor decides about a tool call, and shows the result', async () => {
    const world = await sandbox({
      age,
      workflow: { 'START.md': 'Do {{input}}.' },
      script: answering({ 'Do one.': call('one'), '[result': '<result>done</result>' }),
    });
    const { work: folder, environment } = world.claude;
    const editor = await acpEditor({ folder, environment }, ['workflow'], () => 'allow');
    const { sessionId } = await editor.newSession();
    expect(await editor.prompt(sessionId, 'one')).toBe('end_turn');
    expect(editor.asked).toHaveLength(1);
    expect(editor.asked[0]?.options.map(({ optionId }) => optionId)).toContain('deny');
    expect(timesOf(world, 'one')).toBe(1);
    // The step, and in it the call of the agent with its result.
    const calls = editor.updates.flatMap((update) =>
      update.sessionUpdate === 'tool_call' ? [update.title] : [],
    );
    expect(calls).toEqual(['START.md (main)', expect.stringContaining('curl --version')]);
    const results = editor.updates.flatMap((update) =>
      update.sessionUpdate === 'tool_call_update' ? [update.status] : [],
    );
    expect(results).toEqual(['completed', 'completed']);
    expect(editor.said()).toContain('<result>done</result>');
    expect(editor.said()).toMatch(/done\n$/);
  });
});
