/** What codex itself needs in a sandbox. */
import { join } from 'node:path';
import { type AgentNeeds, hostsInFile } from '../rights/confinement.ts';
import { codexHome } from './threads.ts';

export function codexNeeds(environment: NodeJS.ProcessEnv): AgentNeeds {
  const home = codexHome(environment);
  return {
    writes: [home],
    keeps: COMMANDS.map((name) => join(home, name)),
    reads: [home],
    // The user's own configuration may name other providers.
    hosts: [...HOSTS, ...hostsInFile(join(home, CONFIG))],
  };
}

const CONFIG = 'config.toml';

/** What of its folder acts as commands, or as instructions for later sessions. */
const COMMANDS = [
  ...[CONFIG, 'AGENTS.md', 'AGENTS.override.md', 'hooks.json', 'hooks', 'rules'],
  ...['prompts', 'skills', 'plugins', 'agents'],
];

const HOSTS = ['api.openai.com', 'chatgpt.com', 'auth.openai.com'];
