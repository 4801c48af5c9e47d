/** The work to read, check and draw a workflow grows in proportion to its size. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { bundled } from '../bundled.ts';
import { LARGE_FOLDERS, LARGE_YAML } from './large-workflows.ts';

const LONG = 600_000;

let growth: Readonly<Record<string, number>>;
beforeAll(async () => {
  const { program, remove } = await bundled(new URL('./count-growth.ts', import.meta.url));
  // Optimised code is not counted in full.
  const { stdout } = await promisify(execFile)(process.execPath, ['--no-opt', program]);
  growth = JSON.parse(stdout);
  remove();
}, LONG);

test.each([
  ...Object.keys(LARGE_FOLDERS),
  ...Object.keys(LARGE_YAML).map((name) => `${name}, as YAML`),
  'a graph that is too large for the better layout',
])('%s', (name) => {
  expect(growth[name]).toBeGreaterThan(1);
  expect(growth[name]).toBeLessThan(2.1);
});
