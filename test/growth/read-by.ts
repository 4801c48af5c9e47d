import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { containerCommand } from '../container.ts';
import type { Project } from '../raymond.ts';

const container = containerCommand();

/** A file for the project that reports what a process has read, as the system counts it. */
export const COUNTER = {
  'counter.mjs': `
import { readFileSync, writeFileSync } from 'node:fs';
process.on('exit', () => writeFileSync(process.env.IO_FILE, readFileSync('/proc/self/io', 'utf8')));
`,
};

/**
 * Runs a command, and gives what its process has read. It runs in a container: a command reads the table of
 * processes, and those of others come and go.
 */
export async function readBy(project: Project, words: readonly string[]) {
  const file = project.path('io');
  const env = { NODE_OPTIONS: `--import ${project.path('counter.mjs')}`, IO_FILE: file };
  expect(await project.run(words, { env, within: container })).toMatchObject({ code: 0 });
  const count = (name: string) =>
    Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(readFileSync(file, 'utf8'))?.[1]);
  return { bytes: count('rchar'), reads: count('syscr') };
}
