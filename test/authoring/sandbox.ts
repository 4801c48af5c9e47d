import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach } from 'vitest';
import { userFolders } from '../raymond.ts';

export const BIN = fileURLToPath(new URL('../../bin/raymond.js', import.meta.url));
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A separate project for each test, with the program that users run. No agent is installed. */
export function sandbox() {
  let folder = '';
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'raymond authoring ')));
    mkdirSync(join(folder, '.git'));
    mkdirSync(join(folder, '.tmp'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const path = (name: string) => join(folder, name);
  const start = (...args: string[]) =>
    spawn(process.execPath, [BIN, ...args], {
      cwd: folder,
      env: {
        ...process.env,
        ...userFolders(join(folder, '.tmp')),
        RAYMOND_CLAUDE: '/nowhere/claude',
        TMPDIR: join(folder, '.tmp'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  return {
    path,
    start,
    write(files: Readonly<Record<string, string>>): void {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(path(name)), { recursive: true });
        writeFileSync(path(name), text);
      }
    },
    read: (name: string) => readFileSync(path(name), 'utf8'),
    raymond(...args: string[]): Promise<Ended> {
      const child = start(...args);
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (chunk) => {
        stdout += chunk;
      });
      child.stderr.on('data', (chunk) => {
        stderr += chunk;
      });
      return new Promise((resolve) => {
        child.on('close', (code) => resolve({ code, stdout, stderr }));
      });
    },
  };
}
