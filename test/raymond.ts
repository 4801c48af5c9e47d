/** Runs the built `bin/raymond.js` like a user, in its own project folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { JournaledEvent } from '../src/model/event.ts';
import { BIN } from './built.ts';
import { endProcessesWith, endSurvivors } from './survivors.ts';

export { BIN };

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly pid: number;
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<Ended>;
}

export interface Circumstances {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Its standard input. */
  readonly input?: string | Buffer;
  /** The start of the command line, for example to run in a container. */
  readonly within?: readonly string[];
}

export class Project {
  readonly folder: string;
  /** The configuration folder of the user who works in the project, not of the user of this machine. */
  readonly userConfig: string;
  readonly #children: ChildProcess[] = [];
  readonly environment: Readonly<Record<string, string>>;

  constructor(files: Readonly<Record<string, string>> = {}, name = 'project') {
    this.folder = join(realpathSync(mkdtempSync(join(tmpdir(), 'project-'))), name);
    this.userConfig = join(userFolders(dirname(this.folder)).XDG_CONFIG_HOME, 'raymond');
    // Ends the search for .raymond in parent folders.
    mkdirSync(join(this.folder, '.git'), { recursive: true });
    writeFileSync(join(this.folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    this.environment = { ...cleanEnvironment(), ...userFolders(dirname(this.folder)) };
    for (const [path, text] of Object.entries(files)) this.write(path, text);
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  write(path: string, text: string | Uint8Array): void {
    // Raymond would reject files in .raymond that others can change, so this does not depend on the
    // umask.
    mkdirSync(dirname(this.path(path)), { recursive: true, mode: 0o755 });
    writeFileSync(this.path(path), text, { mode: 0o644 });
  }

  /** The task folder of an agent, as a path from the project. */
  task(run: string, agent = 'main'): string {
    const tasks = join(userFolders(dirname(this.folder)).XDG_STATE_HOME, 'raymond', 'tasks');
    const [own = ''] = readdirSync(tasks).filter((key) => existsSync(join(tasks, key, run)));
    return relative(this.folder, join(tasks, own, run, agent));
  }

  read(...parts: string[]): string {
    return readFileSync(this.path(...parts), 'utf8');
  }

  /** The lines of a file so far; none if the file does not exist. */
  lines(...parts: string[]): string[] {
    try {
      return this.read(...parts)
        .split('\n')
        .slice(0, -1);
    } catch {
      return [];
    }
  }

  /** The events without the fields that the format adds, except their numbers. */
  journal(run: string): JournaledEvent[] {
    const lines = this.lines('.raymond', 'state', `${run}.jsonl`).map((line) => JSON.parse(line));
    return lines
      .filter(({ type }) => type !== 'snapshot')
      .map(({ more: _more, chain: _chain, mac: _mac, crc: _crc, ...event }) => event);
  }

  start(args: readonly string[], more: Circumstances = {}): Started {
    const [program = '', ...rest] = [...(more.within ?? []), process.execPath, BIN, ...args];
    const child = spawn(program, rest, {
      cwd: more.cwd ?? this.folder,
      env: { ...this.environment, ...more.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    child.stdin.on('error', () => {}).end(more.input);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    const ended = new Promise<Ended>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
    return { pid: child.pid ?? 0, child, stdout: () => stdout, stderr: () => stderr, ended };
  }

  run(args: readonly string[], more: Circumstances = {}) {
    return this.start(args, more).ended;
  }

  /** Ends all remaining processes, and removes the folder. */
  async dispose(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    // Also processes that work in the background: they would write into the folder while it is removed.
    await endProcessesWith(`XDG_STATE_HOME=${this.environment.XDG_STATE_HOME}\0`);
    await endSurvivors(this.folder);
    chmodSync(this.folder, 0o700);
    rmSync(dirname(this.folder), { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A home folder for one test, which no other test and no real user shares. */
export function userFolders(folder: string) {
  const home = join(folder, '.home');
  return {
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_STATE_HOME: join(home, 'state'),
  };
}

export function cleanEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) => value !== undefined && !name.startsWith('RAYMOND_') && name !== 'NO_COLOR',
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']));
}
