import { spawnSync } from 'node:child_process';

/** The milliseconds of a program that does without an orchestrator. Throws if it fails. */
export function timed(
  command: string,
  words: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): number {
  const begin = performance.now();
  const { status, signal, error } = spawnSync(command, words, {
    cwd,
    stdio: 'ignore',
    env: { ...process.env, ...environment },
  });
  const ms = performance.now() - begin;
  if (status !== 0) throw new Error(`${command} exited with ${status ?? signal ?? error?.message}`);
  return ms;
}
