/** A screen of tmux in which a command runs. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { firstProcessOf } from '../../test/container.ts';
import { eventually } from '../../test/eventually.ts';

export interface TmuxScreen {
  /** The rows of the screen with their styles, when they contain all these texts. */
  whenShown(...texts: readonly string[]): Promise<string>;
  whenGone(text: string): Promise<void>;
  /** Types keys, such as `Enter`, or texts. */
  type(...keys: readonly string[]): void;
  /** Kills the program that the shell is running. */
  kill(): void;
  close(): void;
}

export interface ScreenOptions {
  readonly command: string;
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
}

export function tmuxScreen(options: ScreenOptions): TmuxScreen {
  const { command, folder, environment, columns, rows } = options;
  const socket = `raymond-${randomUUID()}`;
  const tmux = (...args: readonly string[]) =>
    execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...environment, TERM: 'xterm-256color' },
    });
  const size = ['-x', String(columns), '-y', String(rows)];
  tmux('new-session', '-d', ...size, '-c', folder, `${command}; sleep 3600`);
  return {
    async whenShown(...texts) {
      const isShown = () => {
        const plain = tmux('capture-pane', '-p');
        return texts.every((text) => plain.includes(text));
      };
      await eventually(`the screen shows ${texts.join(', ')}`, isShown, 50);
      return tmux('capture-pane', '-e', '-p');
    },
    whenGone: (text) =>
      eventually(`${text} is gone`, () => !tmux('capture-pane', '-p').includes(text), 50),
    type: (...keys) => void tmux('send-keys', ...keys),
    kill() {
      const shell = Number(tmux('display-message', '-p', '#{pane_pid}'));
      process.kill(firstProcessOf(shell), 'SIGKILL');
    },
    close: () => void tmux('kill-server'),
  };
}
