/** A person at a real terminal with a real shell, in which the completion script of Raymond is loaded. */
import { spawn } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { BIN } from './sandbox.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export const installed: ReadonlySet<Shell> = new Set(SHELLS.filter(isInstalled));

if (installed.size < SHELLS.length) {
  const missing = SHELLS.filter((shell) => !installed.has(shell)).join(', ');
  const message = `NO ${missing} FOUND: the tests of its completion are skipped. Install it.`;
  if (process.env.CI === 'true') throw new Error(message);
  console.error(`\n${'!'.repeat(message.length)}\n${message}\n${'!'.repeat(message.length)}\n`);
}

export interface ShellSession {
  /** All output so far. */
  screen(): string;
  /** Types a line and the tab key. Resolves when the shell has got the completions. */
  complete(line: string): Promise<void>;
  /** Presses the return key, and gives the words that `raymond` received. */
  enter(): Promise<readonly string[]>;
  close(): void;
}

export async function openShell(
  shell: Shell,
  { folder, script, env }: ShellPlace,
): Promise<ShellSession> {
  const path = (name: string) => join(folder, name);
  mkdirSync(path('.shell'), { recursive: true });
  // Counts its completions, and records the words of all other calls.
  const raymond = `#!/bin/bash
if [ "$1" = __complete ]; then
  '${process.execPath}' '${BIN}' "$@"; echo >>'${path('.shell/asked')}'
else
  printf '%s\\0' "$@" >'${path('.shell/words')}'; echo >>'${path('.shell/given')}'
fi
`;
  mkdirSync(path('.shell/bin'), { recursive: true });
  writeFileSync(path('.shell/bin/raymond'), raymond);
  chmodSync(path('.shell/bin/raymond'), 0o755);
  for (const [name, text] of Object.entries(startFiles(script))) {
    mkdirSync(path('.shell/fish/fish'), { recursive: true });
    writeFileSync(path(`.shell/${name}`), text);
  }
  const child = spawn(
    'script',
    ['-qefc', `stty cols 120 rows 50; exec ${COMMANDS[shell]}`, '/dev/null'],
    {
      cwd: folder,
      env: {
        ...env,
        PATH: `${path('.shell/bin')}:${process.env.PATH}`,
        HOME: path('.shell'),
        ZDOTDIR: path('.shell'),
        TERM: 'xterm',
        SHELL: '/bin/sh',
        // After RAYMOND's own folders: fish reads its configuration there.
        FISH_FOLDER: path('.shell/fish'),
      },
    },
  );
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    screen += text;
  });
  const count = (name: string) =>
    existsSync(path(`.shell/${name}`)) ? readFileSync(path(`.shell/${name}`), 'utf8').length : 0;
  await eventually(`${shell} is ready`, () => screen.includes('ready>'));
  return {
    screen: () => screen,
    async complete(line) {
      const before = count('asked');
      child.stdin.write(`${line}\t`);
      await eventually(`${shell} completes ${line}`, () => count('asked') > before);
    },
    async enter() {
      const before = count('given');
      child.stdin.write('\r');
      await eventually(`${shell} runs the command`, () => count('given') > before);
      return readFileSync(path('.shell/words'), 'utf8').split('\0').slice(0, -1);
    },
    close: () => void child.kill('SIGKILL'),
  };
}

export interface ShellPlace {
  readonly folder: string;
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

const COMMANDS: Readonly<Record<Shell, string>> = {
  bash: 'bash --noprofile --rcfile .shell/bashrc -i',
  zsh: 'zsh -d -i',
  fish: 'fish --private --no-config -i -C "source .shell/config.fish"',
};

function startFiles(script: string): Readonly<Record<string, string>> {
  return {
    bashrc: `${script}\nPS1='ready> '\nbind 'set bell-style none'\nbind 'set completion-query-items 0'\n`,
    '.zshrc': `PS1='ready> '\nautoload -Uz compinit\ncompinit -u -d .shell/dump\n${script}\nsetopt no_beep no_prompt_sp\nLISTMAX=0\n`,
    'config.fish': `${script}\nfunction fish_prompt; echo 'ready> '; end\nset -g fish_greeting\n`,
  };
}

function isInstalled(shell: Shell): boolean {
  const folders = (process.env.PATH ?? '').split(':');
  return folders.some((folder) => {
    try {
      accessSync(join(folder, shell), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
