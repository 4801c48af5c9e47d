/** What agents of the protocol need in a sandbox: the folders of their sessions, and the hosts of their service. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type AgentNeeds, hostsAt, hostsIn, hostsInFile } from '../rights/confinement.ts';

type Environment = NodeJS.ProcessEnv;

/** It takes models of any provider, so the user has to name the hosts of the others. */
export function opencodeNeeds(environment: Environment): AgentNeeds {
  const at = (variable: string, usual: string) =>
    join(environment[variable] || inHome(environment, usual), 'opencode');
  const config = at('XDG_CONFIG_HOME', '.config');
  const data = at('XDG_DATA_HOME', '.local/share');
  const file = environment.OPENCODE_CONFIG;
  return {
    // It does not start without its folder for settings.
    writes: [data, config, at('XDG_STATE_HOME', '.local/state'), at('XDG_CACHE_HOME', '.cache')],
    keeps: OPENCODE_COMMANDS.map((name) => join(config, name)),
    reads: [data, config],
    hosts: [
      ...['opencode.ai', 'models.dev'],
      ...hostsIn(environment.OPENCODE_CONFIG_CONTENT),
      ...[join(config, 'opencode.json'), join(config, 'opencode.jsonc')].flatMap(hostsInFile),
      ...(file === undefined ? [] : hostsInFile(file)),
    ],
  };
}

const OPENCODE_COMMANDS = [
  ...['opencode.json', 'opencode.jsonc', 'AGENTS.md', 'package.json', 'node_modules'],
  ...['plugin', 'plugins', 'agent', 'agents', 'command', 'commands', 'mode', 'modes'],
  ...['tool', 'tools', 'skill', 'skills'],
];

export function geminiNeeds(environment: Environment): AgentNeeds {
  const folder = join(environment.GEMINI_CLI_HOME || homeOf(environment), '.gemini');
  return inFolder(folder, ['settings.json', 'GEMINI.md', ...COMMANDS], {
    usual: [
      ...['generativelanguage.googleapis.com', 'cloudcode-pa.googleapis.com'],
      ...['oauth2.googleapis.com', 'accounts.google.com', 'aiplatform.googleapis.com'],
    ],
    environment,
    variables: ['GOOGLE_GEMINI_BASE_URL', 'GOOGLE_VERTEX_BASE_URL'],
  });
}

export function qwenNeeds(environment: Environment): AgentNeeds {
  const folder = environment.QWEN_HOME || inHome(environment, '.qwen');
  return inFolder(folder, ['settings.json', 'QWEN.md', ...COMMANDS], {
    usual: ['chat.qwen.ai', 'portal.qwen.ai', 'dashscope.aliyuncs.com'],
    environment,
    variables: ['OPENAI_BASE_URL'],
  });
}

export function copilotNeeds(environment: Environment): AgentNeeds {
  const folder = environment.COPILOT_HOME || inHome(environment, '.copilot');
  return inFolder(
    folder,
    ['config.json', 'mcp-config.json', 'copilot-instructions.md', ...COMMANDS],
    {
      usual: ['api.github.com', 'github.com', '*.githubcopilot.com'],
      environment,
      variables: ['COPILOT_PROVIDER_BASE_URL'],
    },
  );
}

/** It takes models of any provider, so the user has to name the hosts of the others. */
export function piNeeds(environment: Environment): AgentNeeds {
  const folder = environment.PI_CODING_AGENT_DIR || inHome(environment, '.pi/agent');
  const needs = inFolder(folder, ['settings.json', 'models.json', 'AGENTS.md', ...COMMANDS], {
    usual: ['api.anthropic.com', 'api.openai.com', 'generativelanguage.googleapis.com'],
    environment,
    variables: [],
  });
  const adapter = inHome(environment, '.pi/pi-acp');
  return {
    ...needs,
    writes: [...needs.writes, adapter],
    reads: [...needs.reads, inHome(environment, '.pi')],
    hosts: [...needs.hosts, ...hostsInFile(join(folder, 'models.json'))],
  };
}

/** What of such a folder acts as commands, or as instructions for later sessions. */
const COMMANDS = [
  'hooks',
  'extensions',
  'plugins',
  'agents',
  'commands',
  'skills',
  'prompts',
  'policies',
];

interface Service {
  readonly usual: readonly string[];
  readonly environment: Environment;
  /** Those that may name another service. */
  readonly variables: readonly string[];
}

function inFolder(
  folder: string,
  commands: readonly string[],
  { usual, environment, variables }: Service,
): AgentNeeds {
  return {
    writes: [folder],
    keeps: commands.map((name) => join(folder, name)),
    reads: [folder],
    hosts: [
      ...usual,
      ...variables.flatMap((name) => hostsAt(environment[name])),
      ...hostsInFile(join(folder, 'settings.json')),
    ],
  };
}

const homeOf = ({ HOME }: Environment) => HOME || homedir();

const inHome = (environment: Environment, path: string) => join(homeOf(environment), path);
