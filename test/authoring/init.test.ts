import { cpSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isLong } from '../long.ts';
import { ROOT, sandbox } from './sandbox.ts';

// The templates are beside the built program, so `init` runs there.
const { path, write, read, program, raymond } = sandbox();

const templates = readdirSync(join(ROOT, 'templates'));

describe.each(templates)('%s', (template) => {
  test('works without changes: its tests reach every state, and it can be rehearsed', async () => {
    const made = await program('init', template, 'my flow');
    expect(made.code).toBe(0);
    expect(made.stdout).toContain("raymond test 'my flow'");
    expect(read('my flow/README.md')).toContain(`    raymond ${template}`);

    const linted = await raymond('lint', 'my flow');
    expect(linted).toMatchObject({ code: 0, stdout: '' });

    const tested = await raymond('test', 'my flow', '--coverage');
    expect(tested.stdout).not.toContain('never executed');
    expect(tested).toMatchObject({ code: 0, stderr: '' });
    expect(await raymond('test', 'my flow', '--explore')).toMatchObject({ code: 0, stderr: '' });

    const rehearsed = await raymond('my flow', '--rehearse', '--input', 'A task');
    expect(rehearsed.code).toBe(0);
    // A rehearsal may show how a failed check reminds an agent.
    expect(rehearsed.stderr).not.toMatch(/warning|error|remind(?!.* exited with 1\.$)/im);
    expect(rehearsed.stdout).not.toBe('');
  });

  if (isLong)
    test('can also be rehearsed with its policies alone', async () => {
      write({ 'nothing.yaml': '' });
      cpSync(join(ROOT, 'templates', template), path('flow'), { recursive: true });
      const input = ['--input', 'A task', '--set', 'once=yes'];
      const rehearsed = await raymond('flow', '--rehearsal', 'nothing.yaml', ...input);
      expect(rehearsed.stderr).not.toMatch(/remind|not allowed/i);
      expect(rehearsed.code).toBe(0);
    });
});

test('lists the templates', async () => {
  const { code, stdout } = await program('init', '--list');
  expect(code).toBe(0);
  for (const template of templates) expect(stdout).toContain(template);
});

test("uses the template's name as the default folder, which only the user can read", async () => {
  await program('init', 'release-approval');
  expect(statSync(path('release-approval')).mode & 0o777).toBe(0o700);
  expect(statSync(path('release-approval/NOTES.md')).mode & 0o777).toBe(0o600);
});

test('overwrites nothing', async () => {
  write({ 'flow/NOTES.md': 'mine', 'flow/OTHER.md': 'mine' });
  const { code, stderr } = await program('init', 'release-approval', 'flow');
  expect(code).toBe(64);
  expect(stderr).toMatch(
    /flow already contains NOTES\.md\. Nothing was written\.\n +Name another folder\./,
  );
  expect(readdirSync(path('flow')).sort()).toEqual(['NOTES.md', 'OTHER.md']);
  expect(read('flow/NOTES.md')).toBe('mine');
});

test.each([
  [
    ['release-aproval'],
    'There is no template "release-aproval".',
    'Did you mean release-approval?',
    64,
  ],
  [['nonsense'], 'There is no template "nonsense".', 'Name one of plan-implement-review', 64],
  [[], 'No template is named.', 'Name one of plan-implement-review', 64],
  [['--yes'], 'No template is named.', 'Name one of plan-implement-review', 64],
  [
    ['release-approval', 'file/flow'],
    'cannot be written',
    'Move or remove it, or name another folder.',
    64,
  ],
] as const)('init %j reports the fact and the remedy', async (args, fact, remedy, exit) => {
  write({ file: '' });
  const { code, stderr } = await program('init', ...args);
  expect(stderr).toContain(fact);
  expect(stderr).toContain(remedy);
  expect(code).toBe(exit);
});
