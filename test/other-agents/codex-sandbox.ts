// The real codex in an isolated environment. A scripted model replaces the API.
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The program itself, without the script that starts it. */
export function codexBinary(): string {
  const openai = join(import.meta.dirname, 'node_modules', '@openai');
  const packages = existsSync(openai) ? readdirSync(openai) : [];
  for (const name of packages) {
    const vendor = join(openai, name, 'vendor');
    const [target] = existsSync(vendor) ? readdirSync(vendor) : [];
    if (target !== undefined) return join(vendor, target, 'bin', 'codex');
  }
  throw new Error('Codex is not installed. Run "node test/other-agents/install.js".');
}

export interface CodexSandbox {
  readonly root: string;
  /** The directory in which agents work; its real path. */
  readonly work: string;
  readonly environment: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

export const MODEL = 'gpt-5.1-codex';

export async function codexSandbox(modelUrl: string): Promise<CodexSandbox> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'raymond-codex-')));
  const folders = ['home', 'codex', 'work'].map((name) => join(root, name));
  for (const folder of folders) await mkdir(folder);
  const [home = '', codex = '', work = ''] = folders;
  await writeFile(join(codex, 'config.toml'), configFor(modelUrl));
  return {
    root,
    work,
    environment: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      CODEX_HOME: codex,
      RAYMOND_CODEX: codexBinary(),
      SCRIPTED_KEY: 'sk-fake',
    },
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }),
  };
}

/** Nothing but the scripted model is asked. */
function configFor(modelUrl: string): string {
  return `model = "${MODEL}"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
`;
}
