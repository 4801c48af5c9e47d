/** A person at a terminal, simulated by util-linux's `script`, which gives a program a real terminal. */
import { spawn } from 'node:child_process';
import { BIN, type Project } from './raymond.ts';

export interface Terminal {
  /** All output so far. */
  screen(): string;
  type(keys: string): void;
  readonly ended: Promise<number | null>;
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the built `bin/raymond.js` there, with all its streams at the terminal. */
export function openTerminal(
  project: Project,
  args: readonly string[],
  { columns = 200, env = {} }: TerminalOptions = {},
): Terminal & { close(): void } {
  const command = [process.execPath, BIN, ...args].map(quoted).join(' ');
  const child = spawn(
    'script',
    ['-qefc', `stty cols ${columns} rows 30; exec ${command}`, '/dev/null'],
    {
      cwd: project.folder,
      env: { ...project.environment, TERM: 'xterm', SHELL: '/bin/sh', ...env },
    },
  );
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    screen += text;
  });
  return {
    screen: () => screen,
    type: (keys) => void child.stdin.write(keys),
    ended: new Promise((resolve) => child.once('close', resolve)),
    close: () => void child.kill('SIGKILL'),
  };
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;
