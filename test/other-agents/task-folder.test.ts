// An agent can change its task folder, although it is outside of its directory.
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import type { AcpName } from './acp-agents.ts';
import { acpWorld, fresh } from './acp-world.ts';

/** How each agent writes a file. */
const WRITES: Partial<Record<AcpName, readonly [tool: string, path: string]>> = {
  opencode: ['write', 'filePath'],
  gemini: ['write_file', 'file_path'],
  'claude-acp': ['Write', 'file_path'],
};

test.each(inSuite<AcpName>(['gemini'], ['claude-acp', 'opencode']))(
  '%s writes into its task folder, and not into that of another agent',
  async (agent) => {
    const [name = '', path = ''] = WRITES[agent] ?? [];
    const { ask, file, world } = await acpWorld(agent, ({ prompt }) => {
      const [, target] = /^write (.*)$/.exec(prompt) ?? [];
      if (target === undefined) return 'done';
      return { text: '', tool: { name, input: { [path]: target, content: 'new' } } };
    });
    await ask(`write ${file('user/tasks/a/note')}`, fresh());
    await ask(`write ${file('user/tasks/b/note')}`, fresh());
    expect(existsSync(file('user/tasks/a/note'))).toBe(true);
    expect(existsSync(file('user/tasks/b/note'))).toBe(false);
    await world.executor.close();
  },
);
