// The real Claude Code in an isolated environment, without the account, settings and files of this
// machine's user. A scripted model replaces the API.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { transcriptPath } from '../../src/execute/claude/transcript.ts';
import { isLong } from '../long.ts';

/** Versions up to 2.1.276 restart the total cost for each process; later ones continue the total. */
export const ages = ['older', 'newer'] as const;
export type Age = (typeof ages)[number];

/** The versions in slow tests: one in the suite, both with `npm run test:long`. */
export const suiteAges: readonly Age[] = isLong ? ages : ['newer'];

export function claudeBinary(age: Age): string {
  const installed = join(import.meta.dirname, 'node_modules');
  const folders = existsSync(installed) ? readdirSync(installed) : [];
  const folder = folders.find((name) => name.startsWith(`claude-${age}-`));
  if (folder === undefined) {
    throw new Error(
      `The ${age} Claude Code is not installed. Run "node test/real-agent/install.js".`,
    );
  }
  return join(installed, folder, 'claude');
}

export interface ClaudeSandbox {
  /** The directory in which agents work; its real path. */
  readonly work: string;
  readonly configFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  transcript(session: string, directory?: string): Promise<string>;
  remove(): Promise<void>;
}

export async function claudeSandbox(
  modelUrl: string,
  more: Readonly<Record<string, string>> = {},
): Promise<ClaudeSandbox> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'raymond-claude-')));
  const [home, configFolder, work, temporary] = ['home', 'config', 'work', 'tmp'].map((name) =>
    join(root, name),
  ) as [string, string, string, string];
  for (const folder of [home, configFolder, work, temporary]) await mkdir(folder);
  return {
    work,
    configFolder,
    environment: {
      PATH: process.env.PATH ?? '',
      HOME: home,
      TMPDIR: temporary,
      CLAUDE_CODE_TMPDIR: temporary,
      CLAUDE_CONFIG_DIR: configFolder,
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: 'sk-fake',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_ERROR_REPORTING: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
      ...more,
    },
    transcript: (session, directory = work) =>
      readFile(transcriptPath(configFolder, directory, session), 'utf8'),
    remove: () => rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }),
  };
}

export interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: { readonly code: number | null; readonly signal: string | null };
}

/** Runs one process with this standard input, and waits for its end. */
export async function runClaude(
  age: Age,
  sandbox: ClaudeSandbox,
  claudeArguments: readonly string[],
  input: string,
  directory = sandbox.work,
): Promise<Ended> {
  const child = spawn(claudeBinary(age), claudeArguments, {
    cwd: directory,
    env: sandbox.environment,
    stdio: 'pipe',
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  // Claude Code may refuse its arguments before it reads its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code, signal] = await once(child, 'close');
  return { stdout, stderr, exit: { code, signal } };
}
