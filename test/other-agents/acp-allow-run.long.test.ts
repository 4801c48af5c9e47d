// Which calls of real agents a person can allow for the run.
import { expect, test } from 'vitest';
import type { Asking } from '../../src/ports.ts';
import type { AcpName } from './acp-agents.ts';
import { acpWorld, fresh } from './acp-world.ts';

const COMMAND = { command: 'touch /made.txt', description: 'a test' };
/** opencode has its own test, and pi never asks. */
const CALLS: Readonly<Record<Exclude<AcpName, 'opencode' | 'pi'>, object>> = {
  'claude-acp': { name: 'Bash', input: COMMAND },
  'codex-acp': {
    name: 'exec_command',
    input: { cmd: COMMAND.command, sandbox_permissions: 'require_escalated', justification: 'x' },
  },
  copilot: { name: 'bash', input: COMMAND },
  gemini: { name: 'run_shell_command', input: COMMAND },
  qwen: { name: 'run_shell_command', input: { ...COMMAND, is_background: false } },
};

test.each([
  ['claude-acp', 1],
  ['codex-acp', 1],
  ['qwen', 1],
  // They do not report all arguments of a call.
  ['copilot', 0],
  ['gemini', 0],
] as const)('a command of %s has %d rules, which are the same each time', async (name, count) => {
  const { world, step } = await acpWorld(name, () => ({ text: '', tool: Object(CALLS[name]) }));
  const rulesOf = async () => {
    const asked: Asking[] = [];
    const running = world.executor.start(
      step('Q', fresh(), { asksPermissions: true, warm: false }),
      () => {},
      (one) => asked.push(one),
    );
    await expect.poll(() => asked.length).toBe(1);
    running.stop();
    await running.outcome;
    const [first] = asked;
    if (first?.kind !== 'requested') throw new Error('There is no request.');
    expect(first.request).toMatchObject({
      tool: expect.any(String),
      input: expect.stringContaining('touch /made.txt'),
    });
    return first.request.rules ?? [];
  };
  const first = await rulesOf();
  expect(first).toHaveLength(count);
  expect(await rulesOf()).toEqual(first);
  await world.executor.close();
});
