import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach } from 'vitest';
import { type CommandEnd, carryOut } from '../command.ts';
import { BIN, cleanEnvironment, userFolders } from '../raymond.ts';

export { BIN };
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A separate project for each test, without an agent. Commands are carried out in this process. */
export function sandbox() {
  let folder = '';
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'raymond authoring ')));
    mkdirSync(join(folder, '.git'));
    writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    for (const name of ['.tmp', '.bin']) mkdirSync(join(folder, name));
    // Scripts call `raymond tag`.
    const command = `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`;
    writeFileSync(join(folder, '.bin/raymond'), command, { mode: 0o755 });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const path = (name: string) => join(folder, name);
  const environment = () => ({
    ...cleanEnvironment(),
    ...userFolders(join(folder, '.tmp')),
    RAYMOND_CLAUDE: '/nowhere/claude',
    TMPDIR: join(folder, '.tmp'),
    PATH: `${join(folder, '.bin')}${delimiter}${process.env.PATH}`,
  });
  const start = (...args: string[]) =>
    spawn(process.execPath, [BIN, ...args], {
      cwd: folder,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  return {
    path,
    environment,
    write(files: Readonly<Record<string, string>>): void {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(path(name)), { recursive: true });
        writeFileSync(path(name), text);
      }
    },
    read: (name: string) => readFileSync(path(name), 'utf8'),
    raymond: (...args: string[]): Promise<CommandEnd> => carryOut(args, folder, environment()),
    start,
    /** The same in the program that users run. */
    async program(...args: string[]): Promise<CommandEnd> {
      const child = start(...args);
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
      const [code] = child.exitCode === null ? await once(child, 'close') : [child.exitCode];
      return { code, stdout, stderr };
    },
  };
}
