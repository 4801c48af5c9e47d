/** The examples of this repository, run as their first lines say. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');
const example = (name: string) => join(EXAMPLES, name);

test.each([
  ['gives up', {}, 'not ready after 5 looks\n', 4],
  ['finds it immediately', { ready: '' }, 'ready at look 1\n', 0],
])('poll: %s', async (_, files, stdout, looks) => {
  const ended = await command(newProject(files), [example('poll'), '--set', 'pause=0.01']);
  expect(ended).toMatchObject({ code: 0, stdout });
  expect(ended.stderr.match(/not yet/g) ?? []).toHaveLength(looks);
});

test('dispatch', async () => {
  const files = { 'one & "only"': '1\n', two: '1\n2\n', 'below/not counted': '' };
  const ended = await command(newProject(files), [example('dispatch')]);
  expect(ended).toMatchObject({ code: 0, stdout: '3 lines in 2 files\n' });
  expect(ended.stderr).toContain('one & "only" has 1 lines');
  expect(ended.stderr).toContain('two has 2 lines');
});

test.each([
  ['its default number', [], 8, 'main   | 10'],
  ['a given number', ['--input', '8'], 3, 'main   | 4'],
])('collatz: %s', async (_, options, rounds, shown) => {
  const ended = await command(newProject({}), [example('collatz'), ...options]);
  expect(ended).toMatchObject({ code: 0, stdout: `1 is reached after ${rounds} rounds\n` });
  expect(ended.stderr).toContain(shown);
});

test('every example is run here, or, for GitHub, in test/github', () => {
  expect(readdirSync(EXAMPLES).sort()).toEqual(['collatz', 'dispatch', 'github', 'poll']);
});

test.each(['collatz', 'dispatch', 'github/review', 'poll'])(
  '%s has no findings, and its tests pass',
  async (name) => {
    const project = newProject({});
    expect(await command(project, ['lint', example(name)])).toMatchObject({ code: 0, stdout: '' });
    const tested = await command(project, ['test', example(name), '--coverage']);
    expect(tested).toMatchObject({ code: 0, stderr: '' });
    expect(tested.stdout).not.toContain('never executed');
  },
);
