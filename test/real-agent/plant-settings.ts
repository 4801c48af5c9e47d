import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Files with which a project commands agents. Each leaves a mark when it runs. */
export function plantSettings(folder: string, mark: string): void {
  const touch = (name: string) => `touch ${mark}${name}`;
  const hook = (name: string) => [{ hooks: [{ type: 'command', command: touch(name) }] }];
  const files = {
    '.claude/settings.json': {
      hooks: { SessionStart: hook('hook'), UserPromptSubmit: hook('prompt') },
      apiKeyHelper: `${touch('helper')}; echo sk-x`,
    },
    '.claude/settings.local.json': { hooks: { SessionStart: hook('local') } },
    '.mcp.json': { mcpServers: { x: { command: 'sh', args: ['-c', touch('server')] } } },
    '.gemini/settings.json': {
      mcpServers: { x: { command: 'sh', args: ['-c', touch('gemini')] } },
    },
    'opencode.json': { mcp: { x: { type: 'local', command: ['sh', '-c', touch('opencode')] } } },
  };
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, value] of Object.entries(files)) write(name, JSON.stringify(value));
  write(
    '.codex/config.toml',
    `[mcp_servers.x]\ncommand = "sh"\nargs = ["-c", "${touch('codex')}"]\n`,
  );
  write('.git/HEAD', 'ref: refs/heads/main\n');
  for (const part of ['objects', 'refs'])
    mkdirSync(join(folder, '.git', part), { recursive: true });
}
