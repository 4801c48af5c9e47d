// The command `npm run bench`, without its build. It measures for real, and the test expects no figure.
import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CASES } from '../../bench/bench.ts';
import { resultSchema } from '../../bench/frame/result.ts';

const root = join(import.meta.dirname, '..', '..');

test('--list names every case', () => {
  const { status, stdout } = bench('--list');
  expect(status).toBe(0);
  const names = stdout
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[0]);
  expect(names).toEqual(CASES.map(({ name }) => name));
});

test('an unknown case is an error, and nothing is measured', () => {
  const { status, stdout, stderr } = bench('--case', 'none');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toMatch(/^There is no case "none"\. Name one of: .*start-help/);
});

test('--case measures one case beside another command, and names no machine and no path', () => {
  const { status, stdout } = bench(
    '--case',
    'script-output-memory',
    '--json',
    '--compare',
    'false',
  );
  expect(status).toBe(0);
  const result = resultSchema.parse(JSON.parse(stdout));
  expect(result.lines).toHaveLength(1);
  expect(result.lines[0]).toMatchObject({
    name: 'script-output-memory',
    outcome: { kind: 'measured', others: { false: { failure: 'exited with 1' } } },
  });
  for (const secret of [root, `"${hostname()}"`]) expect(stdout).not.toContain(secret);
});

function bench(...words: readonly string[]) {
  const command = [join(root, 'bench', 'run.js'), ...words];
  return spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8' });
}
