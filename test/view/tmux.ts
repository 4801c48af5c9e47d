/** A shell in a tmux window: a real terminal whose screen can be read. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { screenSvg } from '../../scripts/pictures/screen-svg.ts';
import { eventually } from '../eventually.ts';
import { BIN, type Project } from '../raymond.ts';

try {
  execFileSync('tmux', ['-V']);
} catch {
  throw new Error('NO TMUX FOUND: the tests of the live view need it. Install tmux.');
}

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

const SCREENS = join(import.meta.dirname, 'screens');
/** `npm run pictures:view` draws each expected screen into this folder, for a person to look at. */
const PICTURES = join(import.meta.dirname, '..', 'artefacts', 'view');
/** Each look is a process, which takes time from the one that draws the screen. */
const LOOK_EVERY_MS = 60;
let terminals = 0;

export class TmuxTerminal {
  readonly #project: Project;
  readonly #socket: string;
  readonly #modes: Promise<string>;
  readonly #title: string;
  /** The server of tmux gives it to the shell. */
  readonly #environment: Readonly<Record<string, string>>;

  constructor(
    project: Project,
    { columns, rows }: Size,
    env: Readonly<Record<string, string>> = {},
  ) {
    this.#project = project;
    this.#socket = `raymond-${process.pid}-${++terminals}`;
    project.write('bashrc', `PS1='$ '; raymond() { '${process.execPath}' '${BIN}' "$@"; }\n`);
    this.#environment = { ...project.environment, ...env, TMUX: '' };
    this.#tmux(
      ...['-f', '/dev/null', 'new-session', '-d', '-s', 's', '-x', `${columns}`, '-y', `${rows}`],
      ...['-c', project.folder, 'bash', '--noprofile', '--rcfile', project.path('bashrc')],
    );
    onTestFinished(() => void this.#tmux('kill-server'));
    this.#title = this.#show('#{pane_title}');
    this.#modes = this.#readModes();
  }

  /** Types a command line. */
  async run(line: string): Promise<void> {
    await this.#modes;
    this.type('clear', 'Enter');
    await eventually('the screen is clear', () => this.screen() === '$', LOOK_EVERY_MS);
    this.#tmux('clear-history', '-t', 's');
    this.type(line, 'Enter');
  }

  type(...keys: readonly string[]): void {
    this.#tmux('send-keys', '-t', 's', ...keys);
  }

  /** Pastes a text as terminals do that mark where a paste begins and ends. */
  paste(text: string): void {
    this.#project.write('clipboard', text);
    this.#tmux('load-buffer', this.#project.path('clipboard'));
    this.#tmux('paste-buffer', '-p', '-t', 's');
  }

  resize({ columns, rows }: Size): void {
    this.#tmux('resize-window', '-t', 's', '-x', `${columns}`, '-y', `${rows}`);
  }

  /** The screen without empty rows at its end. Rows that the terminal broke are joined. */
  screen(): string {
    return this.#tmux('capture-pane', '-p', '-J', '-t', 's')
      .split('\n')
      .map((row) => row.trimEnd())
      .join('\n')
      .trimEnd();
  }

  /** The screen, and everything that has scrolled away. */
  history(): string {
    return this.#tmux('capture-pane', '-p', '-J', '-S', '-', '-t', 's');
  }

  shows(text: string): Promise<void> {
    const isShown = () => this.screen().includes(text);
    return eventually(`${JSON.stringify(text)} is on the screen`, isShown, LOOK_EVERY_MS);
  }

  /**
   * Waits until the screen is as in the file. UPDATE_SCREENS=1 writes the file instead, when the screen
   * has the text and stays. `from`: rows above the first one like this are not compared.
   */
  async showsScreen(name: string, text: string, from = /^/): Promise<void> {
    await this.shows(text);
    const file = join(SCREENS, `${name}.txt`);
    const normal = () => `${rowsFrom(from, normalised(this.screen(), this.#project.folder))}\n`;
    if (process.env.UPDATE_SCREENS) {
      let last = '';
      const stays = () => {
        const before = last;
        last = normal();
        return last === before;
      };
      await eventually('the screen stays', stays, 700);
      writeFileSync(file, last);
      return;
    }
    const expected = readFileSync(file, 'utf8');
    await eventually(name, () => normal() === expected, LOOK_EVERY_MS).catch(() => {});
    if (process.env.VIEW_PICTURES) this.#draw(name);
    expect(normal()).toBe(expected);
  }

  #draw(name: string): void {
    const picture = screenSvg({
      screens: [{ captured: this.#tmux('capture-pane', '-e', '-p', '-t', 's') }],
      columns: Number(this.#show('#{pane_width}')),
      title: name,
      description: `The screen ${name} of the tests`,
    });
    mkdirSync(PICTURES, { recursive: true });
    writeFileSync(join(PICTURES, `${name}.svg`), picture);
  }

  /** The shell has its prompt on a fresh row, and the terminal is as it was before the command. */
  async isAsBefore(): Promise<void> {
    const isAtPrompt = () => this.screen().endsWith('\n$');
    await eventually('the prompt is on a fresh row', isAtPrompt, LOOK_EVERY_MS);
    expect(this.#show('#{cursor_flag} #{alternate_on} #{cursor_x} #{pane_title}')).toBe(
      `1 0 2 ${this.#title}`,
    );
    expect(await this.#readModes()).toBe(await this.#modes);
  }

  /** The modes that a program gets from the shell. */
  async #readModes(): Promise<string> {
    const name = `modes-${++terminals}`;
    this.type(`stty -a >${name}.part; mv ${name}.part ${name}`, 'Enter');
    await eventually('stty has ended', () => this.#project.lines(name).length > 0);
    return this.#project.read(name).replace(/rows \d+; columns \d+;/, '');
  }

  #show(format: string): string {
    return this.#tmux('display-message', '-p', '-t', 's', format).trimEnd();
  }

  #tmux(...args: readonly string[]): string {
    const options = { encoding: 'utf8', env: this.#environment } as const;
    return execFileSync('tmux', ['-L', this.#socket, ...args], options);
  }
}

function rowsFrom(from: RegExp, screen: string): string {
  const rows = screen.split('\n');
  return rows.slice(rows.findIndex((row) => from.test(row))).join('\n');
}

/**
 * Times, durations and the folder of the project are different each time. The length of the folder
 * decides where the first line of a run is broken.
 */
function normalised(screen: string, folder: string): string {
  return screen
    .replace(/ starts: .*(\n {16}.*)*/, (line) => line.replace(/\n {16}/g, ' '))
    .replaceAll(folder, '/project')
    .replace(/\b\d\d:\d\d:\d\d\b/g, 'HH:MM:SS')
    .replace(/\b\d:\d\d\b/g, 'M:SS')
    .replace(/\b\d\d:\d\d\b/g, 'MM:SS')
    .replace(/\b\d+\.\d s\b/g, 'N s')
    .replace(/^bash: line \d+: +\d+ Killed.*$/m, 'Killed')
    .replace(/\bpid \d+\b/g, 'pid N');
}
