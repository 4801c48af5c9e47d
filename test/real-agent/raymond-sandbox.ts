// A separate project in which the real Raymond runs the real Claude Code with a scripted model.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import type { RunEvent, RunEventOf } from '../../src/model/event.ts';
import { BIN } from '../raymond.ts';
import { type Age, type ClaudeSandbox, claudeBinary, claudeSandbox } from './claude-sandbox.ts';
import { history, type ModelRequest } from './model-request.ts';
import {
  type Answer,
  type Reply,
  type Script,
  type ScriptedModel,
  scriptedModel,
} from './scripted-model.ts';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The events that `--json` printed, for runs that were started with it. */
  readonly events: readonly RunEvent[];
}

export interface Started {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  /** The output so far. */
  stderr(): string;
}

export interface RaymondSandbox {
  readonly claude: ClaudeSandbox;
  readonly model: ScriptedModel;
  /** Starts `raymond` in the project. */
  start(...args: string[]): Started;
  /** Runs `raymond` in the project and waits for its end. */
  run(...args: string[]): Promise<Finished>;
  /** A file of the project. */
  file(name: string): string;
  /** The journal of a run. */
  journal(run: string): readonly RunEvent[];
  /** The groups of the agent processes of all runs, in the order in which they were started. */
  processes(): readonly number[];
  /** Resolves when the output of an agent process contains this. */
  outputHas(text: string): Promise<void>;
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
    RAYMOND_RETRY_PAUSES_MS: '1,1,1',
    ...world.environment,
  });
  const file = (name: string) => join(claude.work, name);
  for (const [name, text] of Object.entries(world.workflow)) {
    await mkdir(dirname(file(`workflow/${name}`)), { recursive: true });
    await writeFile(file(`workflow/${name}`), text);
  }
  const children = new Set<ChildProcess>();
  const start = (...args: string[]): Started => {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd: claude.work,
      env: claude.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    children.add(child);
    return { child, ...follow(child) };
  };
  return {
    claude,
    model,
    start,
    run: (...args) => start(...args).finished,
    file,
    journal: (run) => readJournal(file('.raymond'), run),
    processes: () => processesIn(file('.raymond/runs')),
    async outputHas(text) {
      const outputs = () =>
        filesIn(file('.raymond/runs')).filter((name) => name.endsWith('/stdout'));
      await until(() => outputs().some((name) => readFileSync(name, 'utf8').includes(text)));
    },
    async remove() {
      await Promise.all([...children].map(end));
      await model.close();
      await claude.remove();
    },
  };
}

/** Creates sandboxes that are removed after each test. */
export function sandboxes(): (world: RaymondWorld) => Promise<RaymondSandbox> {
  let open: RaymondSandbox[] = [];
  afterEach(async () => {
    await Promise.all(open.map((sandbox) => sandbox.remove()));
    open = [];
  });
  return async (world) => {
    const made = await raymondSandbox(world);
    open.push(made);
    return made;
  };
}

/** Answers each prompt by its text. Uses the replies of a list in order, and repeats the last one. */
export function answering(replies: Readonly<Record<string, Reply | readonly Reply[]>>): Script {
  const asked = new Map<string, number>();
  return (request) => {
    const text = lastPrompt(request);
    const found = Object.entries(replies).find(([prompt]) => text.includes(prompt));
    if (found === undefined) throw new Error(`Nothing is scripted for: ${text}`);
    const [prompt, given] = found;
    const list: readonly Reply[] = isList(given) ? given : [given];
    const count = asked.get(prompt) ?? 0;
    asked.set(prompt, count + 1);
    const reply = list[Math.min(count, list.length - 1)];
    if (reply === undefined) throw new Error(`No reply is scripted for: ${prompt}`);
    return reply;
  };
}

function isList(given: Reply | readonly Reply[]): given is readonly Reply[] {
  return Array.isArray(given);
}

/** The last message to the model: a prompt, or the result of a tool. */
export function lastPrompt(request: ModelRequest | undefined): string {
  if (request === undefined) throw new Error('The model was not asked.');
  return history(request).findLast(({ role }) => role === 'user')?.text ?? '';
}

/** The conversation in a request, one line for each message. */
export function conversationLines(request: ModelRequest | undefined): readonly string[] {
  if (request === undefined) throw new Error('The model was not asked.');
  return history(request).map(({ role, text }) => `${role}: ${text}`);
}

export function bash(command: string, description = 'a test'): Answer {
  const input = { command, description };
  return { content: [{ type: 'tool_use', name: 'Bash', input }] };
}

/** Lets the agent run any command. */
export async function allowBash({ configFolder }: ClaudeSandbox): Promise<void> {
  const settings = { permissions: { allow: ['Bash'] } };
  await writeFile(join(configFolder, 'settings.json'), JSON.stringify(settings));
}

export function eventsOf<T extends RunEvent['type']>(
  events: readonly RunEvent[],
  type: T,
): readonly RunEventOf<T>[] {
  return events.filter((event): event is RunEventOf<T> => event.type === type);
}

/** Repeats `find` until it returns a value. */
export async function until<T>(find: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = find();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A reply waits at it until it is open. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Kills a process with SIGKILL, and waits for its end. */
export async function killHard(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

function follow(child: ChildProcess): Omit<Started, 'child'> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk) => {
    stderr += chunk;
  });
  const finished = once(child, 'close').then(([code]) => {
    const lines = stdout.split('\n').filter((line) => line.startsWith('{"'));
    return { code, stdout, stderr, events: lines.map((line) => JSON.parse(line)) };
  });
  return { finished, stderr: () => stderr };
}

function readJournal(folder: string, run: string): readonly RunEvent[] {
  const file = filesIn(folder).find((name) => name.includes(run) && name.endsWith('.jsonl'));
  if (file === undefined) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

function processesIn(folder: string): readonly number[] {
  const records = filesIn(folder).filter((name) => name.endsWith('/process.json'));
  return records
    .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
    .map((name) => JSON.parse(readFileSync(name, 'utf8')).identity.pid);
}

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesIn(join(folder, entry.name)) : [join(folder, entry.name)],
  );
}
