/**
 * Starts a program that cannot see the folders with the user's keys. In a namespace of its own, an empty folder
 * lies over each of them.
 *
 * A rule of codex's sandbox could hide them too. With such a rule, codex also reads AGENTS.md and skills in
 * sandboxes, about ten for each turn, and each puts empty files in place of missing command files. Parallel
 * turns remove them under each other: turns fail or wait, and empty folders stay in /tmp (codex 0.166).
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { isWithin } from '../../files/regular-file.ts';
import { shellWord } from '../../model/shell-word.ts';
import type { Protection } from './protected-files.ts';

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
}

interface Sight extends Pick<Protection, 'hides' | 'opens'> {
  readonly cwd: string;
}

/** Needs Linux, util-linux, and the right to make namespaces, which the sandbox of codex needs too. */
export function outOfSight({ command, args }: Program, { hides, opens, cwd }: Sight): Program {
  const kept = opens
    .filter((path) => hides.some((folder) => isWithin(folder, path)))
    .map((path, at) => ({ word: shellWord(path), file: at + FIRST_FREE_FILE }));
  const hidden = hides.map(shellWord);
  const script = [
    ...hidden.map((word) => `mkdir -p -m 700 ${word}`),
    // What stays in sight is opened before it is covered.
    ...kept.map(({ word, file }) => `exec ${file}<${word}`),
    ...hidden.map((word) => `mount -t tmpfs -o mode=755 none ${word}`),
    ...kept.map(({ word }) => `mkdir -p ${word}`),
    ...kept.map(({ word, file }) => `mount --no-canonicalize --bind /proc/self/fd/${file} ${word}`),
    ...hidden.map((word) => `mount -o remount,bind,ro ${word}`),
    ...kept.map(({ file }) => `exec ${file}<&-`),
    // The present directory may be one of the covered ones.
    `cd ${shellWord(cwd)}`,
    'exec setpriv --ambient-caps=-all -- "$@"',
  ].join('\n');
  const namespace = ['--user', '--map-current-user', '--keep-caps', '--mount'];
  return {
    command: 'unshare',
    args: [...namespace, '--', 'sh', '-ec', script, 'sh', command, ...args],
  };
}

const FIRST_FREE_FILE = 3;

/** Tries once whether this machine can hide the folders, and tells the person if it cannot. */
export function keyHider(environment: NodeJS.ProcessEnv) {
  let problem: Promise<string | undefined> | undefined;
  return async (sight: Sight, tell: (text: string) => void) => {
    if (process.platform !== 'linux') return asItIs;
    if (problem === undefined) {
      problem = problemWith(sight.hides, environment);
      const found = await problem;
      if (found !== undefined)
        tell(
          `Commands of the agent can read your key, because this machine cannot hide it: ${found}`,
        );
    }
    if ((await problem) !== undefined) return asItIs;
    const opens = sight.opens.filter((path) => existsSync(path));
    return (program: Program) => outOfSight(program, { ...sight, opens });
  };
}

export const asItIs = (program: Program): Program => program;

/** Only about the machine: the folders of the first step say nothing about those of later ones. */
async function problemWith(
  hides: Sight['hides'],
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const { command, args } = outOfSight(
    { command: 'true', args: [] },
    { hides, opens: [], cwd: '/' },
  );
  try {
    await promisify(execFile)(command, args, { env: environment, timeout: LONGEST_TRIAL_MS });
    return undefined;
  } catch (error) {
    const { stderr, message, killed } = error as Error & {
      readonly stderr?: string;
      readonly killed?: boolean;
    };
    // A machine that is only slow can hide them.
    if (killed) return undefined;
    return (stderr?.trim() || message).split('\n')[0];
  }
}

const LONGEST_TRIAL_MS = 10_000;
