// The run decides what codex may edit over the Agent Client Protocol.
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { acpWorld, fresh } from './acp-world.ts';

test('codex-acp edits files of the directory, and neither its edits nor its commands change the workflow', async () => {
  const { ask, world, file } = await acpWorld('codex-acp', ({ prompt, tools }) => {
    const [, cmd] = /^run (.*)$/s.exec(prompt) ?? [];
    if (cmd === undefined) return 'done';
    const tool = tools.includes('exec_command')
      ? { name: 'exec_command', input: { cmd } }
      : { name: 'shell_command', input: { command: cmd } };
    return { text: '', tool };
  });
  const patch = (lines: string) =>
    ask(`run apply_patch <<'EOF'\n*** Begin Patch\n${lines}\n*** End Patch\nEOF`, fresh());
  expect(await patch('*** Add File: a.txt\n+new')).toMatchObject({ kind: 'answered', denied: [] });
  expect(readFileSync(file('work/a.txt'), 'utf8')).toBe('new\n');

  // A turn ends when an edit is denied.
  await patch('*** Update File: flow/START.md\n@@\n-x\n+y');
  await ask('run echo y >flow/START.md', fresh());
  await ask('run echo y >>.raymond/config.toml', fresh());
  expect(readFileSync(file('work/flow/START.md'), 'utf8')).toBe('x');
  expect(existsSync(file('work/.raymond/config.toml'))).toBe(false);
  await world.executor.close();
});
