/** What Claude Code itself needs in a sandbox. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type AgentNeeds, hostsAt } from '../rights/confinement.ts';

export function claudeNeeds(environment: NodeJS.ProcessEnv): AgentNeeds {
  const own = environment.CLAUDE_CONFIG_DIR;
  const folder = own ?? join(homedir(), '.claude');
  const state = join(own ?? homedir(), '.claude.json');
  return {
    writes: [folder, state],
    keeps: COMMANDS.map((name) => join(folder, name)),
    reads: [folder, state],
    hosts: [...HOSTS, ...hostsAt(environment.ANTHROPIC_BASE_URL)],
  };
}

/** What of its folder acts as commands, or as instructions for later sessions. */
const COMMANDS = [
  ...['settings.json', 'settings.local.json', 'hooks', 'plugins', 'agents', 'commands', 'skills'],
  ...['CLAUDE.md', 'output-styles', 'keybindings.json'],
];

const HOSTS = ['api.anthropic.com', 'console.anthropic.com', 'platform.claude.com', 'claude.ai'];
