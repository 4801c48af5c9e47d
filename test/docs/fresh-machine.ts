/** A fresh machine, as a reader of the README has it: git, Node, npm, and an address to clone from. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from './documents.ts';
import { loopbackRegistry } from './loopback-registry.ts';

export interface FreshMachine {
  /** The folder in which the reader begins; empty. */
  readonly folder: string;
  /** Where the reader is now. */
  directory(): string;
  /** Runs a command of the README in the directory where the one before has ended. */
  run(command: string): Promise<{ readonly output: string; readonly code: number | null }>;
  remove(): Promise<void>;
}

/** Its npm has the cache and the settings of the user, so that packages are not fetched twice. */
export async function freshMachine(
  environment: Readonly<Record<string, string>>,
): Promise<FreshMachine> {
  const registry = await loopbackRegistry();
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-fresh-')));
  const [folder, home, prefix] = ['work', 'home', 'prefix'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [folder, home, join(prefix, 'lib')]) mkdirSync(made, { recursive: true });
  const env = {
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    HOME: home,
    ...environment,
    PATH: [join(prefix, 'bin'), environment.PATH, dirname(process.execPath), '/usr/bin', '/bin']
      .filter((entry) => entry !== undefined)
      .join(':'),
    npm_config_prefix: prefix,
    npm_config_prefer_offline: 'true',
    npm_config_registry: registry.url,
    // The content of packages keeps its usual address, under which npm has cached it.
    npm_config_replace_registry_host: 'never',
    npm_config_audit: 'false',
    npm_config_cache: npmConfig('cache'),
    npm_config_userconfig: npmConfig('userconfig'),
  };
  const repository = makeRepository(join(base, 'repository'));
  let directory = folder;
  return {
    folder,
    directory: () => directory,
    async run(command) {
      const script = `${command.replaceAll('<repository>', `'${repository}'`)}\n`;
      const child = spawn('/bin/bash', ['-c', `{ ${script}} 2>&1; code=$?; pwd >&3; exit $code`], {
        cwd: directory,
        env,
        stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
      });
      const [output, end] = [child.stdout, child.stdio[3]].map(collected);
      const [code] = await once(child, 'close');
      directory = end?.().trim() || directory;
      return { output: output?.() ?? '', code };
    },
    async remove() {
      rmSync(base, { recursive: true, force: true, maxRetries: 10 });
      await registry.close();
    },
  };
}

/** The files as they are now, committed or not, so that a change is tested before it is committed. */
function makeRepository(folder: string): string {
  mkdirSync(folder);
  const list = git(root, 'ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate');
  const deleted = new Set(git(root, 'ls-files', '--deleted'));
  for (const file of list.filter((file) => !deleted.has(file))) {
    cpSync(join(root, file), join(folder, file));
  }
  git(folder, 'init', '--quiet');
  git(folder, 'add', '--all', '--force');
  const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
  git(folder, ...author, 'commit', '--quiet', '--message', 'Everything');
  return folder;
}

function git(cwd: string, ...args: readonly string[]): readonly string[] {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout.split('\n').filter(Boolean);
}

function npmConfig(key: string): string {
  return spawnSync('npm', ['config', 'get', key], { encoding: 'utf8' }).stdout.trim();
}

function collected(stream: unknown): () => string {
  let text = '';
  (stream as NodeJS.ReadableStream).setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
