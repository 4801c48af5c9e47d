// A cloned project does not command other agents either.
import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { inSuite } from '../long.ts';
import { plantSettings } from '../real-agent/plant-settings.ts';
import type { RaymondSandbox } from '../real-agent/raymond-sandbox.ts';
import type { AcpName } from './acp-agents.ts';
import { play } from './acp-play.ts';

const marks = ({ claude }: RaymondSandbox) =>
  readdirSync(dirname(claude.work)).filter((name) => name.startsWith('mark-'));

async function clone(name: AcpName) {
  const { raymond } = await play(
    name,
    { 'START.md': `---\nagent: ${name}\n---\nSay hello.` },
    () => '<result>hello</result>',
  );
  plantSettings(raymond.claude.work, join(dirname(raymond.claude.work), 'mark-'));
  return raymond;
}

test.each(
  inSuite<[AcpName, string]>([['opencode', 'mark-opencode']], [['claude-acp', 'mark-hook']]),
)(
  '%s takes prompts in a clone without its settings, and with them after an approval',
  async (name, mark) => {
    const raymond = await clone(name);
    const { code, stdout, stderr } = await raymond.run('workflow');
    expect(marks(raymond)).toEqual([]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hello\n' });
    expect(stderr).toContain(`${name} does not load settings of this project`);
    await raymond.run('trust', '--yes');
    expect((await raymond.run('workflow')).stderr).not.toContain('approved');
    expect(marks(raymond)).toContain(mark);
  },
);

test.each<[AcpName, string]>([
  ['opencode', '.opencode/plugin/x.js'],
  ['codex-acp', '.codex/config.toml'],
  ['gemini', '.gemini/settings.json'],
])('%s does not start in a clone with %s, which it would load anyway', async (name, file) => {
  const raymond = await clone(name);
  await mkdir(dirname(raymond.file(file)), { recursive: true });
  const payload = `require('node:fs').writeFileSync('${join(dirname(raymond.claude.work), 'mark-js')}', '')`;
  if (file.endsWith('.js')) await writeFile(raymond.file(file), payload);
  if (name === 'gemini') await writeFile(raymond.file(file), '{}');
  const { code, stderr } = await raymond.run('workflow');
  expect(stderr).toContain(
    `${name} would load settings of this project that you have not approved: ${file}.`,
  );
  expect(stderr).toContain('raymond trust');
  expect(code).not.toBe(0);
  expect(marks(raymond)).toEqual([]);
});
