/** What codex itself needs in a sandbox. */
import { join } from 'node:path';
import { readIfSmallSync } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';
import { type AgentNeeds, hostsAt } from '../rights/confinement.ts';
import { codexHome } from './threads.ts';

export function codexNeeds(environment: NodeJS.ProcessEnv): AgentNeeds {
  const home = codexHome(environment);
  return {
    writes: [home],
    keeps: COMMANDS.map((name) => join(home, name)),
    reads: [home],
    hosts: [...HOSTS, ...ownHosts(join(home, CONFIG))],
  };
}

const CONFIG = 'config.toml';

/** What of its folder acts as commands, or as instructions for later sessions. */
const COMMANDS = [
  ...[CONFIG, 'AGENTS.md', 'AGENTS.override.md', 'hooks.json', 'hooks', 'rules'],
  ...['prompts', 'skills', 'plugins', 'agents'],
];

const HOSTS = ['api.openai.com', 'chatgpt.com', 'auth.openai.com'];

/** The user's own configuration may name other providers. */
function ownHosts(file: string): readonly string[] {
  const text = attempt(() => readIfSmallSync(file, MOST_BYTES).bytes)?.toString() ?? '';
  return [...text.matchAll(/^\s*\w*base_url\s*=\s*["']([^"']+)["']/gm)].flatMap(([, address]) =>
    hostsAt(address),
  );
}

const MOST_BYTES = 1024 * 1024;
