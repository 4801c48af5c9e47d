// Everything that can be found out about a workflow without running it, in one report.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TEMPLATES } from '../../src/cli/author/init.ts';
import { command } from '../command.ts';
import { root } from '../docs/documents.ts';
import { newProject } from '../new-project.ts';

const may = (entries: string, more = '') =>
  `---\nallowed_transitions: [${entries}]\n${more}---\nGo on.`;
const RESULT = may('{ tag: result }');

async function checked(files: Readonly<Record<string, string>>) {
  const project = newProject(files);
  mkdirSync(project.path('../temporary'));
  const env = { TMPDIR: project.path('../temporary') };
  const { code, stdout, stderr } = await command(project, ['check', 'flow', '--json'], { env });
  expect(stderr).toBe('');
  return { code, project, report: JSON.parse(stdout) };
}

test('a workflow without problems is ready', async () => {
  const { code, report, project } = await checked({
    'flow/START.md': may('{ tag: goto, target: END }'),
    'flow/END.sh': `touch ran; echo '<result>done</result>'\n`,
  });
  expect(report).toMatchObject({
    verdict: 'ready',
    next: 'Play its tests: raymond test flow. Then start it: raymond flow',
    ...{ findings: [], findings_omitted: 0 },
    explored: {
      ...{ complete: true, states_reached: 2, states_missed: [] },
      ...{ transitions_taken: 2, transitions_known: 2 },
    },
    bound: { prompts: 4, agents: 1, text: 'A run uses at most 4 prompts.' },
    rehearsal: {
      ...{ outcome: 'completed', steps: 2, agents: 1, result: 'done' },
      path: ['START.md', 'END.sh'],
    },
  });
  expect(code).toBe(0);
  // It executes nothing and leaves nothing behind.
  expect(existsSync(project.path('ran'))).toBe(false);
  expect(existsSync(project.path('.raymond'))).toBe(false);
  expect(readdirSync(project.path('../temporary'))).toEqual([]);
});

test('an error makes it faulty, with its place, its remedy and the next thing to do', async () => {
  const { code, report } = await checked({
    'flow/START.md': may('{ tag: goto, target: REEVIEW }'),
    'flow/REVIEW.md': RESULT,
  });
  expect(code).toBe(1);
  expect(report).toMatchObject({
    verdict: 'faulty',
    findings: [
      {
        ...{ severity: 'error', code: 'missing-state', file: 'flow/START.md', line: 2 },
        remedy: expect.stringContaining('REVIEW'),
      },
    ],
    rehearsal: { outcome: 'failed', problems: [{ state: 'START.md', kind: 'missing-state' }] },
  });
  expect(report.next).toMatch(
    /^Fix flow\/START\.md:2:\d+: error: .* Then check again: raymond check flow$/,
  );
});

test.each([
  [
    'a loop without a limit',
    {
      'flow/START.md': may('{ tag: goto, target: WORK }'),
      'flow/WORK.md': may('{ tag: goto, target: START }, { tag: result }'),
    },
    'can repeat without a limit. max_visits for START.md would limit it.',
  ],
  [
    'a warning of lint',
    { 'flow/START.md': RESULT, 'flow/OTHER.md': RESULT },
    'Lint has 1 warning.',
  ],
  [
    'a script whose text shows no tag',
    { 'flow/START.sh': './decide.py\n' },
    'In a rehearsal, START failed: START.sh was not executed',
  ],
  [
    'a loop that a rehearsal does not leave',
    {
      'flow/START.sh': `echo '<goto>START</goto>' # or "<result>$x</result>" \n`,
      'flow/rehearsal.yaml': 'answers: { START: "<goto>START</goto>" }\n',
    },
    'A rehearsal did not end (stopped: iterations).',
  ],
])('%s makes it doubtful', async (_, files, doubt) => {
  const { code, report } = await checked(files);
  expect(report).toMatchObject({ verdict: 'doubtful', next: expect.stringContaining(doubt) });
  expect(code).toBe(0);
});

test('questions are answered, inputs are given, and the rehearsal file is used', async () => {
  const { report } = await checked({
    'flow/workflow.yaml': 'input: { required: true, label: the task }\n',
    'flow/START.md': may('{ tag: ask, next: NEXT }'),
    'flow/NEXT.md': may('{ tag: goto, target: END }, { tag: result }', 'max_visits: 1\n'),
    'flow/END.md': RESULT,
    'flow/rehearsal.yaml': 'answers: { NEXT: "<result>from the file</result>" }\n',
  });
  expect(report).toMatchObject({
    rehearsal: { result: 'from the file', path: ['START.md', 'NEXT.md'] },
  });
});

test('a rehearsal file that cannot be used is a fault', async () => {
  const { code, report } = await checked({
    'flow/START.md': RESULT,
    'flow/rehearsal.yaml': 'answers: { STRAT: "<result>x</result>" }\n',
  });
  expect({ code, verdict: report.verdict }).toEqual({ code: 1, verdict: 'faulty' });
  expect(report.next).toContain('rehearsal.yaml');
});

test('a workflow that cannot be read is faulty, and one that does not exist is an error', async () => {
  const { code, report } = await checked({ 'flow/NEXT.md': RESULT });
  expect(report).toMatchObject({ verdict: 'faulty', explored: null, bound: null, rehearsal: null });
  expect(code).toBe(1);
  const missing = await command(newProject({}), ['check', 'flow', '--json']);
  expect(missing).toMatchObject({ code: 64, stdout: expect.stringContaining('no-workflow') });
});

test('people get lines', async () => {
  const project = newProject({
    'flow/START.md': may('{ tag: goto, target: END }'),
    'flow/END.md': RESULT,
  });
  const { stdout } = await command(project, ['check', 'flow']);
  expect(stdout.split('\n')).toEqual([
    'lint      no problems',
    'explore   2 of 2 states and 2 of 2 transitions can be reached',
    'bound     A run uses at most 8 prompts.',
    'rehearse  completed after 2 steps: START → END',
    'verdict   ready. Play its tests: raymond test flow. Then start it: raymond flow',
    '',
  ]);
});

test.each([...TEMPLATES.keys()])('the template %s is not faulty', async (name) => {
  const project = newProject({});
  const { code, stdout } = await command(project, ['check', join(root, 'templates', name)]);
  expect(code, stdout).toBe(0);
});
