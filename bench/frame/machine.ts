import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Result } from './result.ts';

const root = join(import.meta.dirname, '..', '..');

export function machine(): Result['machine'] {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    load: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}

export function versions(): Result['versions'] {
  return {
    node: process.version,
    raymond: versionIn(root),
    commit: commit(),
    agents: agents(),
  };
}

function commit(): string {
  const head = git('rev-parse', '--short', 'HEAD');
  if (head === undefined) return 'unknown';
  return git('status', '--porcelain', '--untracked-files=no') === ''
    ? head
    : `${head} with changes`;
}

function git(...words: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** The versions of Claude Code that the tests with the real agent have installed. */
function agents(): readonly string[] {
  const installed = join(root, 'test', 'real-agent', 'node_modules');
  try {
    const folders = readdirSync(installed).filter((name) => name.startsWith('claude-'));
    return folders.map((name) => versionIn(join(installed, name))).toSorted();
  } catch {
    return [];
  }
}

function versionIn(folder: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return String(version);
}
