/** A document's project: a temporary folder with the files that the document shows. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BIN } from '../built.ts';
import { carryOut } from '../command.ts';
import { endProcessesWith } from '../survivors.ts';
import type { Document } from './documents.ts';
import { root } from './documents.ts';

export interface DocumentProject {
  readonly folder: string;
  /** Writes the files that the document shows before a line. */
  showUntil(line: number): void;
  /**
   * Runs a shell command in it, as a reader would. `before` is the exit code of the previous command. A plain
   * command of Raymond needs no shell and no new process.
   */
  run(command: string, before: number): Promise<{ readonly output: string; readonly code: number }>;
  /** Ends what the commands have left, because it may still write there, and removes all files. */
  remove(): Promise<void>;
}

/** The reader has Raymond, and the programs of `environment.PATH`. */
export function makeDocumentProject(
  { blocks }: Document,
  environment: Readonly<Record<string, string>> = {},
): DocumentProject {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-docs-')));
  const folder = join(base, 'project');
  const bin = join(base, 'bin');
  for (const made of [folder, bin, join(folder, '.git')]) mkdirSync(made);
  writeFileSync(join(bin, 'raymond'), `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`, {
    mode: 0o755,
  });
  writeFileSync(join(bin, 'npx'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  for (const name of ['examples', 'templates'].filter((name) => existsSync(join(root, name)))) {
    if (!blocks.some(({ text }) => text.includes(name))) continue;
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  const shown = new Set<string>();
  const path = [bin, environment.PATH, dirname(process.execPath), '/usr/bin', '/bin'];
  const env = {
    HOME: base,
    TERM: 'dumb',
    LANG: 'C.UTF-8',
    ...environment,
    PATH: path.filter((entry) => entry !== undefined).join(':'),
  };
  return {
    folder,
    showUntil(line) {
      for (const { file, text, line: shownAt } of blocks) {
        if (file === undefined || shownAt > line || shown.has(file)) continue;
        shown.add(file);
        mkdirSync(dirname(join(folder, file)), { recursive: true, mode: 0o755 });
        writeFileSync(join(folder, file), text, { mode: 0o644 });
      }
    },
    async run(command, before) {
      const words = wordsOf(command);
      if (words?.[0] === 'raymond' && !words.some((word) => NEEDS_PROGRAM.has(word))) {
        const { output, code } = await carryOut(words.slice(1), folder, env);
        return { output, code: code ?? -1 };
      }
      const script = `(exit ${before})\n${command}`;
      const child = spawn('/bin/bash', ['-c', `{ ${script}\n} 2>&1`], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
        timeout: 110_000,
      });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
      });
      const [code, signal] = await once(child, 'close');
      if (signal !== null) throw new Error(`It did not end: ${command}\n${output}`);
      return { output, code };
    },
    async remove() {
      await endProcessesWith(`PATH=${bin}:`);
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** These start the built program again, or look for files beside it. */
const NEEDS_PROGRAM = new Set(['--detach', 'init', 'try']);

/** The words of a command in which the shell has nothing to do but to take the quotes away. */
function wordsOf(command: string): readonly string[] | undefined {
  const plain = /^(?:(?:^| +)(?:[\w./:=,@%+-]+|'[^']*'|"[^"$`\\!]*"))+$/;
  if (!plain.test(command)) return undefined;
  return (command.match(/'[^']*'|"[^"]*"|[^ '"]+/g) ?? []).map((word) =>
    word.replace(/^(['"])(.*)\1$/s, '$2'),
  );
}
