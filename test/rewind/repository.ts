import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A git repository in a temporary folder, which is removed after the test. */
export class Repository {
  readonly folder: string;

  constructor(folder = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-files-')))) {
    this.folder = folder;
    this.git('init', '-q', '-b', 'main');
    onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  }

  git(...args: readonly string[]): string {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
    const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    return execFileSync('git', ['-C', this.folder, ...who, ...args], { encoding: 'utf8', env });
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), text);
  }

  commit(): void {
    this.git('add', '--all');
    this.git('commit', '-qm', 'x');
  }
}
