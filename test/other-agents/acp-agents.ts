// The real agents that speak the Agent Client Protocol, each with a scripted model.
import { chmodSync, existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claudeBinary } from '../real-agent/claude-sandbox.ts';
import { conversationLines, lastPrompt } from '../real-agent/raymond-sandbox.ts';
import { scriptedModel } from '../real-agent/scripted-model.ts';
import { codexBinary, codexSandbox, MODEL } from './codex-sandbox.ts';
import { type Asked, type Reply, type Script, scriptedApi, USAGE } from './scripted-api.ts';
import { CHAT } from './scripted-chat.ts';
import { GEMINI } from './scripted-gemini.ts';
import { scriptedResponses } from './scripted-responses.ts';

export type AcpName =
  | 'opencode'
  | 'codex-acp'
  | 'claude-acp'
  | 'gemini'
  | 'qwen'
  | 'pi'
  | 'copilot';

export interface AgentModel {
  readonly requests: readonly Asked[];
  /** Paths of requests that belong to no conversation. */
  readonly others: readonly string[];
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

export interface RealAgent {
  readonly model: AgentModel;
  /** The environment of Raymond. The program of the agent is on its PATH. */
  readonly environment: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/** The cost of one scripted answer, and where it comes from. */
export const TURN_COST = {
  // The sandbox has its own prices.
  opencode: { usd: (60 * 1 + 40 * 0.1 + 20 * 2) / 1_000_000, from: 'told' },
  'codex-acp': { usd: (60 * 1.25 + 40 * 0.125 + 20 * 10) / 1_000_000, from: 'priced' },
  'claude-acp': { usd: 0.000648, from: 'told' },
  gemini: { usd: (100 * 2.5 + 20 * 15) / 1_000_000, from: 'priced' },
  qwen: { usd: (60 * 1.25 + 40 * 0.125 + 20 * 10) / 1_000_000, from: 'priced' },
  pi: { usd: (60 * 1 + 40 * 0.1 + 20 * 2) / 1_000_000, from: 'told' },
  // With a provider of the user it names no model, so the dearest one counts.
  copilot: { usd: 0.0066, from: 'priced' },
} as const;

/** Starts the scripted model of an agent, and describes it to the agent. */
export async function realAgent(name: AcpName, script: Script): Promise<RealAgent> {
  const root = await realpath(await mkdtemp(join(tmpdir(), `raymond-${name}-`)));
  const bin = join(root, 'bin');
  await mkdir(bin);
  const { model, environment } = await AGENTS[name](script, root, bin);
  return {
    model,
    environment: { ...environment, PATH: `${bin}:${process.env.PATH ?? ''}` },
    remove: async () => {
      await model.close();
      await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    },
  };
}

type Making = (
  script: Script,
  root: string,
  bin: string,
) => Promise<Pick<RealAgent, 'model' | 'environment'>>;

const AGENTS: Readonly<Record<AcpName, Making>> = {
  opencode: async (script, _, bin) => {
    const model = await scriptedApi(CHAT, script);
    const binary = installed(`opencode-${process.platform}-${process.arch}`, 'bin', 'opencode');
    if (!existsSync(binary)) throw notInstalled('opencode');
    symlinkSync(binary, join(bin, 'opencode'));
    const priced = { cost: { input: 1, output: 2, cache_read: 0.1 } };
    const limit = { context: 100_000, output: 1_000 };
    const config = {
      autoupdate: false,
      share: 'disabled',
      model: 'scripted/m1',
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${model.origin}/v1`, apiKey: 'x' },
          models: { m1: { limit, ...priced }, m2: { limit } },
        },
      },
    };
    const environment = {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    };
    return { model, environment };
  },
  'codex-acp': async (script, _, bin) => {
    const model = await scriptedResponses(script);
    const { environment, remove } = await codexSandbox(model.url);
    const { PATH: _path, HOME: _home, ...others } = environment;
    writeScript(bin, 'codex-acp', installed('@agentclientprotocol/codex-acp', 'dist/index.js'));
    const close = async () => {
      await model.close();
      await remove();
    };
    return {
      model: { ...model, close },
      environment: { ...others, CODEX_PATH: codexBinary(), NO_BROWSER: '1' },
    };
  },
  'claude-acp': async (script, root, bin) => {
    const requests: Asked[] = [];
    const model = await scriptedModel((request, turn) => {
      const asked = {
        model: request.model,
        effort: request.effort,
        lines: conversationLines(request),
        prompt: lastPrompt(request),
        tools: request.tools,
      };
      requests.push(asked);
      return forMessages(script(asked, turn));
    }, NOTHING);
    const config = join(root, 'config');
    await mkdir(config);
    writeScript(
      bin,
      'claude-agent-acp',
      installed('@agentclientprotocol/claude-agent-acp', 'dist/index.js'),
    );
    const environment = {
      CLAUDE_CODE_EXECUTABLE: claudeBinary('newer'),
      CLAUDE_CONFIG_DIR: config,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'sk-fake',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
    };
    const arrived = async (count: number) => void (await model.arrived(count));
    return { model: { requests, others: [], arrived, close: model.close }, environment };
  },
  gemini: async (script, root, bin) => {
    const model = await scriptedApi(GEMINI, script);
    writeScript(bin, 'gemini', installed('@google/gemini-cli', 'bundle/gemini.js'));
    const settings = join(root, 'settings.json');
    await writeFile(
      settings,
      JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      }),
    );
    const environment = {
      GEMINI_CLI_SYSTEM_SETTINGS_PATH: settings,
      GEMINI_API_KEY: 'x',
      GOOGLE_GEMINI_BASE_URL: model.origin,
      GEMINI_MODEL: 'gemini-2.5-pro',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      NO_UPDATE_NOTIFIER: '1',
    };
    return { model, environment };
  },
  qwen: async (script, root, bin) => {
    const model = await scriptedApi(CHAT, script);
    writeScript(bin, 'qwen', newer('@qwen-code/qwen-code', 'cli-entry.js'), newerNode());
    const settings = join(root, 'settings.json');
    await writeFile(
      settings,
      JSON.stringify({
        security: { auth: { selectedType: 'openai' } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false },
        ui: { enableFollowupSuggestions: false },
        memory: {
          enableManagedAutoMemory: false,
          enableManagedAutoDream: false,
          enableAutoSkill: false,
        },
      }),
    );
    const environment = {
      QWEN_CODE_SYSTEM_SETTINGS_PATH: settings,
      OPENAI_API_KEY: 'x',
      OPENAI_BASE_URL: `${model.origin}/v1`,
      OPENAI_MODEL: MODEL,
    };
    return { model, environment };
  },
  copilot: async (script, root, bin) => {
    const model = await scriptedApi(CHAT, script);
    const binary = newer(`@github/copilot-${process.platform}-${process.arch}`, 'copilot');
    if (!existsSync(binary)) throw notInstalled('copilot');
    symlinkSync(binary, join(bin, 'copilot'));
    const environment = {
      COPILOT_HOME: join(root, 'copilot'),
      COPILOT_OFFLINE: 'true',
      COPILOT_AUTO_UPDATE: 'false',
      COPILOT_PROVIDER_BASE_URL: `${model.origin}/v1`,
      COPILOT_PROVIDER_API_KEY: 'x',
      COPILOT_MODEL: MODEL,
    };
    return { model, environment };
  },
  pi: async (script, root, bin) => {
    const model = await scriptedApi(CHAT, script);
    writeScript(bin, 'pi-acp', newer('pi-acp', 'dist/index.js'), newerNode());
    const program = newer('@earendil-works/pi-coding-agent', 'dist/bundle/cli.js');
    writeScript(bin, 'pi', program, newerNode());
    // pi-acp asks npm for a newer version of pi.
    writeFileSync(join(bin, 'npm'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    const folder = join(root, 'pi');
    await mkdir(folder);
    const cost = { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 };
    const limits = { contextWindow: 100_000, maxTokens: 1_000 };
    const models = [
      { id: 'm1', cost, ...limits },
      { id: 'm2', cost, ...limits },
      { id: 'unpriced', ...limits },
    ];
    const providers = {
      scripted: { baseUrl: `${model.origin}/v1`, api: 'openai-completions', apiKey: 'x', models },
    };
    await writeFile(join(folder, 'models.json'), JSON.stringify({ providers }));
    await writeFile(
      join(folder, 'settings.json'),
      JSON.stringify({
        // A key in the environment would choose another one.
        defaultProvider: 'scripted',
        defaultModel: 'm1',
        retry: { maxRetries: 1, baseDelayMs: 10 },
      }),
    );
    const environment = { PI_CODING_AGENT_DIR: folder, PI_OFFLINE: '1', PI_TELEMETRY: '0' };
    return { model, environment };
  },
};

/** The usage of requests for a title, which are no part of a conversation. */
const NOTHING = { input_tokens: 0, output_tokens: 0 };

function installed(...path: readonly string[]): string {
  return join(import.meta.dirname, 'node_modules', ...path);
}

function newer(...path: readonly string[]): string {
  return join(import.meta.dirname, 'newer-node', 'node_modules', ...path);
}

/** Where npm has none for the platform, this one may be new enough. */
function newerNode(): string {
  const node = newer(`node-${process.platform}-${process.arch}`, 'bin', 'node');
  return existsSync(node) ? node : process.execPath;
}

function writeScript(bin: string, name: string, module: string, node = process.execPath): void {
  if (!existsSync(module)) throw notInstalled(name);
  const file = join(bin, name);
  writeFileSync(file, `#!/bin/sh\nexec '${node}' '${module}' "$@"\n`);
  chmodSync(file, 0o755);
}

const notInstalled = (name: string) =>
  new Error(`${name} is not installed. Run "node test/other-agents/install.js".`);

function forMessages(reply: Reply) {
  if (typeof reply === 'object' && 'status' in reply) {
    const message = String(reply.error.message);
    return { fault: 'http', status: reply.status, type: 'api_error', message } as const;
  }
  const { text, tool, after, usage = USAGE } = typeof reply === 'string' ? { text: reply } : reply;
  return {
    content: [
      ...(text === '' ? [] : [{ type: 'text', text } as const]),
      ...(tool ? [{ type: 'tool_use', name: tool.name, input: tool.input } as const] : []),
    ],
    usage: {
      input_tokens: usage.input - usage.cached,
      cache_read_input_tokens: usage.cached,
      output_tokens: usage.output,
    },
    ...(after && { after }),
  };
}
