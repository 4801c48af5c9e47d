import { symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

const POLICY = '---\nallowed_transitions: [{ tag: goto, target: NXT }, { tag: result }]\n---\n';
const FLOW = {
  'flow/START.md': `${POLICY}Do {{thing}}. End with <goto>NEXT</goto> or <result>x</result>`,
  'flow/NEXT.sh': `echo '<result>done</result>'`,
  'good/START.sh': `echo '<goto>NEXT</goto>'`,
  'good/NEXT.sh': `echo '<result>done</result>'`,
};

test('lint prints the position, the fault and the remedy, and exits with 1 for an error', async () => {
  const found = await command(newProject(FLOW), ['lint', 'flow']);
  expect(found.code).toBe(1);
  expect(found.stdout).toMatch(
    /^flow\/START\.md:2:\d+: error: .*There is no state "NXT"\. .*NEXT\.sh.* \[missing-state\]$/m,
  );
  expect(found.stdout).toMatch(/^flow\/START\.md:4:4: .*thing.* \[unfilled-placeholder\]$/m);
  expect(found.stderr).toMatch(/\d errors?, /);
});

test('lint: --level hides findings, --set gives variables, --windows checks for Windows', async () => {
  const project = newProject(FLOW);
  const errors = await command(project, ['lint', 'flow', '--level', 'error']);
  expect(errors.stdout).not.toMatch(/: (?:warning|note): /);
  const filled = await command(project, ['lint', 'flow', '--set', 'thing=1']);
  expect(filled.stdout).not.toContain('unfilled-placeholder');
  expect(await command(project, ['lint', 'good'])).toMatchObject({ code: 0, stdout: '' });
  const windows = await command(project, ['lint', 'good', '--windows']);
  expect(windows).toMatchObject({ code: 1, stdout: expect.stringContaining('[wrong-platform]') });
});

test('lint: --json prints one finding per line, --sarif all of them for a code host', async () => {
  const project = newProject(FLOW);
  const json = await command(project, ['lint', 'flow', '--json']);
  const faults = json.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(faults).toContainEqual(
    expect.objectContaining({ code: 'missing-state', file: 'flow/START.md', line: 2 }),
  );
  const sarif = JSON.parse((await command(project, ['lint', 'flow', '--sarif'])).stdout);
  expect(sarif.version).toBe('2.1.0');
  expect(sarif.runs[0].results).toHaveLength(faults.length);
});

test('lint: a missing, doubled or unreadable first state is a finding', async () => {
  const project = newProject({
    'none/OTHER.md': '<result>x</result>',
    'two/START.sh': FLOW['good/NEXT.sh'],
    'two/1_START.sh': FLOW['good/NEXT.sh'],
    'secret.md': '<result>x</result>',
    'link/OTHER.md': '<result>x</result>',
  });
  symlinkSync(project.path('secret.md'), project.path('link', 'START.md'));
  for (const [flow, code] of [
    ['none', 'no-entry'],
    ['two', 'two-entries'],
    ['link', 'unusable-file'],
  ] as const) {
    const found = await command(project, ['lint', flow]);
    expect(found).toMatchObject({ code: 1, stdout: expect.stringContaining(`[${code}]`) });
    expect(found.stdout).toMatch(new RegExp(`^${flow}[/:]`, 'm'));
  }
});

test('diagram: Mermaid text, a picture, a page, and the path of a run', async () => {
  const project = newProject(FLOW);
  const mermaid = await command(project, ['diagram', 'good']);
  expect(mermaid).toMatchObject({ code: 0, stdout: expect.stringMatching(/^flowchart TD\n/) });
  expect((await command(project, ['diagram', 'good', '--svg'])).stdout).toMatch(
    /^<svg[\s\S]*START/,
  );
  const page = await command(project, ['diagram', 'good', '--html']);
  expect(page.stdout).toMatch(/^<!doctype html>[\s\S]*default-src 'none'/i);
  expect(await command(project, ['good', '--workflow-id', 'r'])).toMatchObject({ code: 0 });
  expect((await command(project, ['diagram', '--run', 'r', '--svg'])).stdout).toContain('1×');
});

test.each([
  [['lint', 'flow', '--level', 'all'], 'Write error, warning or note.'],
  [['lint', 'nowhere'], 'There is no workflow at nowhere.'],
  [['diagram'], 'No workflow is named.'],
  [['diagram', 'good', '--run', 'r'], 'This project has no run r'],
])('%j is refused', async (args, message) => {
  const ended = await command(newProject(FLOW), args);
  expect(ended).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining(message) });
});

test('lint names places that exist, also for a workflow without an entry, and in SARIF', async () => {
  const project = newProject({
    'sub/w.yaml': 'nme: x\nstates:\n  START:\n    prompt: |\n      <goto>NO</goto>\n',
    'sub/none.yaml': 'nme: x\nstates:\n  A: { prompt: x }\n',
    'sub/two.yaml': 'states:\n  START: { prompt: x, sh: y }\n',
    'none/A.md': 'x',
    'both/START.md': 'x',
    'both/START.sh': 'x',
  });
  const files = async (path: string) => {
    const { stdout } = await command(project, ['lint', path, '--json']);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ file, line, column, code }) => `${file}:${line}:${column} ${code}`);
  };
  expect(await files('sub/w.yaml')).toEqual([
    'sub/w.yaml:1:1 unknown-key',
    'sub/w.yaml:5:7 missing-state',
  ]);
  expect(await files('sub/none.yaml')).toEqual([
    'sub/none.yaml:1:1 no-entry',
    'sub/none.yaml:1:1 unknown-key',
  ]);
  expect(await files('sub/two.yaml')).toEqual(['sub/two.yaml:2:12 two-kinds']);
  expect(await files('none')).toEqual(['none:1:1 no-entry']);
  expect(await files('both')).toEqual(['both/START.md:1:1 ambiguous-entry']);
  const { stdout } = await command(project, ['lint', 'sub/w.yaml', '--sarif']);
  const uris = [...stdout.matchAll(/"uri": "([^"]*)"/g)].map(([, uri]) => uri);
  expect(new Set(uris)).toEqual(new Set(['sub/w.yaml']));
});

test('a state of two kinds stops the run, at the entry too', async () => {
  const project = newProject({
    'w.yaml': 'states:\n  START: { prompt: x, sh: y }\n',
    'v.yaml':
      'states:\n  START: { sh: "echo \'<result>x</result>\'" }\n  B: { prompt: x, sh: y }\n',
  });
  for (const [path, place] of [
    ['w.yaml', '2:12'],
    ['v.yaml', '3:8'],
  ] as const) {
    const { code, stderr } = await command(project, [path]);
    expect(stderr).toContain(`${path}:${place}: error: The state`);
    expect(stderr).toContain('is both a prompt and a script');
    expect(code).toBe(64);
  }
});
