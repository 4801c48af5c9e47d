import type { ProjectSettings } from '../../model/agent.ts';
import type { AgentNeeds } from '../rights/confinement.ts';
import type { Adapter } from './adapter.ts';
import { copilotNeeds, geminiNeeds, opencodeNeeds, piNeeds, qwenNeeds } from './needs.ts';
import { PI_ADAPTER } from './pi-adapter.ts';

/** The agents that speak the Agent Client Protocol and that Raymond knows by name. */
export interface KnownAgent {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Whether it can branch sessions. Lint starts no program, so it cannot ask. */
  readonly branch: boolean;
  /** How to install it: the first part of a remedy. */
  readonly install: string;
  /** Whether its turns outlive Raymond. Raymond tries it with every agent. */
  readonly adopt: boolean;
  /** The form in which it reports the cost of a turn. */
  readonly cost: 'usd' | 'tokens';
  /** Whether it reports the size of a session. */
  readonly context?: true;
  /** Present if it uses the login of another agent, and so reaches the same usage limits. */
  readonly provider?: string;
  readonly projectSettings: ProjectSettings;
  /** How Raymond tells it to skip settings of the project. */
  readonly skipping?: {
    /** Environment variables of its process. */
    readonly variables?: Readonly<Record<string, string>>;
    /** In place of the usual `meta`. */
    readonly meta?: Readonly<Record<string, unknown>>;
  };
  /** Environment variables of its process, unless the user has set them. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Present if it asks before it changes something, so that Raymond can limit it. */
  readonly permissions?: Permissions;
  /**
   * The turns that its total cost of a session includes. `kept`: the turns of earlier processes. `copied`: also
   * those of the session from which it was branched. Otherwise each process begins to count again.
   */
  readonly totals?: 'kept' | 'copied';
  /** The tokens that it reports are those of the last request of a turn. */
  readonly countsLastRequest?: true;
  /** The tokens that it reports are those of all turns that its process has taken in the session. */
  readonly countsAllTurns?: true;
  /** It listens on a port. The variable for the password without which it answers every user of the machine. */
  readonly password?: string;
  /** It executes commands without asking, in a sandbox in which they can read. */
  readonly readsUnasked?: true;
  /** Two of its processes must not start at the same time. */
  readonly startsAlone?: true;
  /** Its sessions get lost when another process loads them, whatever it offers. So its process stays. */
  readonly losesSessions?: true;
  /** It names the messages of the model, and also reports faults as texts, which have no name. */
  readonly namesMessages?: true;
  /** The part of a session's request that only this agent understands. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** What it needs in a sandbox: its folders, and the hosts of its service. */
  readonly needs?: (environment: NodeJS.ProcessEnv) => AgentNeeds;
  /** It runs commands in a sandbox of its own, which cannot start inside of another one. */
  readonly hasSandbox?: true;
  /** Present if its program says or does more than the protocol describes. */
  readonly adapter?: Adapter;
}

/** How Raymond makes the agent ask. */
interface Permissions {
  /** Its mode for each permission mode of Raymond. An absent one is its usual mode. */
  readonly modes: {
    readonly plan?: string;
    readonly strict?: string;
    readonly edits?: string;
    readonly skip?: string;
  };
  /** Its requests have all arguments of the call. Otherwise Raymond waits for the report of the call. */
  readonly asksWhole?: true;
  /** Environment variables of its process. */
  readonly variables?: (taskFolder: string) => Readonly<Record<string, string>>;
  /** The option that lets it use a further folder, before it asks. */
  readonly folderOption?: string;
}

const CLAUDE_FILES = ['.claude', '.mcp.json'];
const OPENCODE_FILES = ['opencode.json', 'opencode.jsonc'];
const COPILOT_FOLDERS = ['.copilot', '.github/copilot', '.github/hooks', '.github/extensions'];

export const KNOWN_ACP: Readonly<Record<string, KnownAgent>> = {
  opencode: {
    needs: opencodeNeeds,
    command: ['opencode', 'acp'],
    branch: true,
    adopt: true,
    cost: 'usd',
    totals: 'copied',
    countsLastRequest: true,
    password: 'OPENCODE_SERVER_PASSWORD',
    // The second one would find the database of opencode locked.
    startsAlone: true,
    // It loads the plugins in .opencode whatever it is told.
    projectSettings: {
      names: ['.opencode', ...OPENCODE_FILES],
      skips: OPENCODE_FILES,
      alsoSkips: 'AGENTS.md',
    },
    skipping: { variables: { OPENCODE_DISABLE_PROJECT_CONFIG: '1' } },
    variables: { OPENCODE_DISABLE_AUTOCOMPACT: '1', OPENCODE_DISABLE_PRUNE: '1' },
    context: true,
    install: 'Install it with "npm install -g opencode-ai",',
    permissions: {
      modes: { plan: 'plan', strict: 'build', edits: 'build', skip: 'build' },
      // By itself, opencode allows everything.
      variables: (taskFolder) => ({
        OPENCODE_PERMISSION: JSON.stringify({
          ...{ edit: 'ask', bash: 'ask', webfetch: 'ask', websearch: 'ask' },
          // It also asks before it edits a file there.
          external_directory: { '*': 'ask', [`${taskFolder}/*`]: 'allow' },
        }),
      }),
    },
  },
  gemini: {
    needs: geminiNeeds,
    command: ['gemini', '--acp'],
    provider: 'gcp.gemini',
    branch: false,
    adopt: true,
    cost: 'tokens',
    // A new process begins a file for the session that it loads, which replaces the session's own file if
    // both are of the same minute. The next process finds this file empty, and deletes both.
    losesSessions: true,
    projectSettings: { names: ['.gemini'], skips: [] },
    install: 'Install it with "npm install -g @google/gemini-cli",',
    permissions: {
      modes: { plan: 'plan', strict: 'default', edits: 'default', skip: 'default' },
      folderOption: '--include-directories',
    },
  },
  qwen: {
    needs: qwenNeeds,
    command: ['qwen', '--acp'],
    branch: false,
    adopt: true,
    cost: 'tokens',
    projectSettings: { names: ['.qwen'], skips: [] },
    install: 'Install it with "npm install -g @qwen-code/qwen-code",',
    permissions: {
      asksWhole: true,
      folderOption: '--include-directories',
      modes: { plan: 'plan', strict: 'default', edits: 'default', skip: 'default' },
    },
  },
  copilot: {
    needs: copilotNeeds,
    command: ['copilot', '--acp'],
    branch: false,
    adopt: true,
    cost: 'tokens',
    countsAllTurns: true,
    projectSettings: { names: [...COPILOT_FOLDERS, '.mcp.json'], skips: [] },
    install: 'Install it with "npm install -g @github/copilot",',
    permissions: { modes: {} },
  },
  pi: {
    needs: piNeeds,
    command: ['pi-acp'],
    branch: false,
    adopt: true,
    cost: 'usd',
    totals: 'kept',
    adapter: PI_ADAPTER,
    projectSettings: { names: ['.pi', '.agents'], skips: [] },
    install: 'Install it with "npm install -g pi-acp @earendil-works/pi-coding-agent",',
  },
  'claude-acp': {
    command: ['claude-agent-acp'],
    provider: 'anthropic',
    branch: true,
    adopt: true,
    cost: 'usd',
    totals: 'kept',
    // Suggestions for the next prompt cost money, and no one reads them.
    meta: { claudeCode: { options: { promptSuggestions: false } } },
    variables: { DISABLE_AUTO_COMPACT: '1' },
    context: true,
    projectSettings: {
      names: CLAUDE_FILES,
      skips: CLAUDE_FILES,
      alsoSkips: 'CLAUDE.md',
    },
    skipping: {
      meta: { claudeCode: { options: { promptSuggestions: false, settingSources: ['user'] } } },
    },
    install: 'Install it with "npm install -g @agentclientprotocol/claude-agent-acp",',
    permissions: {
      modes: { plan: 'plan', strict: 'default', edits: 'default', skip: 'default' },
    },
  },
  'codex-acp': {
    hasSandbox: true,
    command: ['codex-acp'],
    provider: 'openai',
    branch: true,
    adopt: true,
    cost: 'tokens',
    namesMessages: true,
    readsUnasked: true,
    // It tells codex that every project is trusted.
    projectSettings: { names: ['.codex', '.agents'], skips: [] },
    install: 'Install it with "npm install -g @agentclientprotocol/codex-acp",',
    permissions: {
      modes: {
        plan: 'read-only',
        strict: 'read-only',
        // In the mode "workspace-write" it would edit the workflow without asking.
        edits: 'read-only',
        skip: 'agent-full-access',
      },
    },
  },
};
