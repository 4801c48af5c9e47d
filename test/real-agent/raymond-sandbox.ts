// A project of its own in which the real Raymond drives the real Claude Code against a scripted model.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunEvent } from '../../src/model/event.ts';
import { type Age, type ClaudeSandbox, claudeBinary, claudeSandbox } from './claude-sandbox.ts';
import { type Script, type ScriptedModel, scriptedModel } from './scripted-model.ts';

const bin = fileURLToPath(new URL('../../bin/raymond.js', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What `--json` printed, for runs that were started with it. */
  readonly events: readonly RunEvent[];
}

export interface Started {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
}

export interface RaymondSandbox {
  readonly claude: ClaudeSandbox;
  readonly model: ScriptedModel;
  /** Starts `raymond` in the project. */
  start(...args: string[]): Started;
  /** Runs `raymond` in the project to its end. */
  run(...args: string[]): Promise<Finished>;
  remove(): Promise<void>;
}

export interface RaymondWorld {
  readonly age: Age;
  /** The workflow's files, in the folder `workflow` of the project. */
  readonly workflow: Readonly<Record<string, string>>;
  readonly script: Script;
  readonly environment?: Readonly<Record<string, string>>;
}

export async function raymondSandbox(world: RaymondWorld): Promise<RaymondSandbox> {
  const model = await scriptedModel(world.script);
  const claude = await claudeSandbox(model.url, {
    RAYMOND_CLAUDE: claudeBinary(world.age),
    ...world.environment,
  });
  for (const [name, text] of Object.entries(world.workflow)) {
    const file = join(claude.work, 'workflow', name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  const start = (...args: string[]): Started => {
    const child = spawn(process.execPath, [bin, ...args], {
      cwd: claude.work,
      env: claude.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return { child, finished: finish(child) };
  };
  return {
    claude,
    model,
    start,
    run: (...args) => start(...args).finished,
    async remove() {
      await model.close();
      await claude.remove();
    },
  };
}

async function finish(child: ChildProcess): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = await once(child, 'close');
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  return { code, stdout, stderr, events: lines.map((line) => JSON.parse(line)) };
}
