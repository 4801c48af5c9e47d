import { expect, test } from 'vitest';
import { readFiles } from '../../test/lint/workflow-of.ts';
import type { Workflow } from '../model/workflow.ts';
import { limitsOf } from './limits.ts';

function read(manifest: string, files: Readonly<Record<string, string>> = {}): Workflow {
  const encoder = new TextEncoder();
  const all = { 'START.md': 'Go.', 'POLL.sh': 'x', 'POLL.ps1': 'x', ...files };
  const bytes = Object.entries({ ...all, 'workflow.yaml': manifest }).map(
    ([name, text]) => [name, encoder.encode(text)] as const,
  );
  const reading = readFiles(new Map(bytes), 'unix');
  if (!reading.ok) throw new Error(reading.message);
  return reading.workflow;
}

const limits = (workflow: Workflow) =>
  Object.fromEntries([...workflow.states].map(([name, state]) => [name, limitsOf(state)]));

test('a manifest describes the workflow and is no state', () => {
  const workflow = read(`
id: triage
name: Triage
description: Sorts issues
input: { required: true, label: the issue, default: 7 }
default_budget: 1.5
environment: { REGION: eu }
agent: claude
requires_human_input: true
`);
  expect(workflow.diagnostics).toEqual([]);
  expect(workflow.name).toBe('triage');
  expect([...workflow.states.keys()]).toEqual(['POLL.ps1', 'POLL.sh', 'START.md']);
  expect(workflow.about).toEqual({
    id: 'triage',
    title: 'Triage',
    description: 'Sorts issues',
    input: { label: 'the issue', required: true, default: '7' },
    defaultBudgetUsd: 1.5,
    environment: { REGION: 'eu' },
    agent: ['claude'],
  });
});

test('a text as input is a label', () => {
  expect(read('input: the issue').about.input).toEqual({ label: 'the issue', required: false });
});

test.each([
  'agent: codex',
  '{"agent": "codex"}',
  '{\n  "name": "x",\n  "\\u0061gent": "codex"\n}',
  "'agent' : codex",
])('the agent of the manifest %j counts', (manifest) => {
  const workflow = read(manifest);
  expect(workflow.diagnostics).toEqual([]);
  expect(workflow.agents.usual).toBe('codex');
});

test('an empty manifest says nothing', () => {
  expect(read('').diagnostics).toEqual([]);
  expect(read('# later\n').about).toEqual({});
});

test('limits apply to the named file, or to every file of a name', () => {
  const both = { idleTimeoutMs: 30_000, maxVisits: 100 };
  const one = read('states:\n  POLL.sh: { timeout: 30, max_visits: 100 }');
  expect(limits(one)).toEqual({ 'START.md': {}, 'POLL.sh': both, 'POLL.ps1': {} });
  const all = read('states: { POLL: { timeout: 30, max_visits: 100 }, START: { max_visits: 2 } }');
  expect(limits(all)).toEqual({ 'START.md': { maxVisits: 2 }, 'POLL.sh': both, 'POLL.ps1': both });
  expect([one, all].flatMap(({ diagnostics }) => diagnostics)).toEqual([]);
});

test.each<[string, string, string, string]>([
  ['nam: x', '1:1 warning unknown-key', 'has no key "nam"', 'Did you mean name?'],
  ['[1]', '1:1 error bad-value', 'must be keys with values', ''],
  ['default_budget: 0', '1:17 warning unused-key', 'cannot make the budget unlimited', ''],
  ['default_budget: lots', '1:17 error bad-value', 'an amount of USD', ''],
  ['input: { requird: true }', '1:10 warning unknown-key', 'requird', 'required'],
  ['input: [a]', '1:8 error bad-value', 'input must be', ''],
  ['input: { required: maybe }', '1:20 error bad-value', 'true or false', ''],
  ['agent: cladue', '1:8 error unknown-agent', 'no agent "cladue"', 'claude'],
  ['environment: { PATH: x }', '1:16 error bad-name', 'PATH', ''],
  [
    'states: { POL.sh: { timeout: 1 } }',
    '1:11 error missing-state',
    'no state "POL.sh"',
    'POLL.sh',
  ],
  ['states: { POLL.sh: { timout: 1 } }', '1:22 warning unknown-key', 'timout', 'timeout'],
  ['states: { POLL.sh: { timeout: -1 } }', '1:31 error bad-value', 'timeout', ''],
  ['states: { POLL.sh: { max_visits: 0 } }', '1:34 error bad-value', 'max_visits', ''],
  ['states: { POLL.sh: 30 }', '1:20 error bad-value', 'must be limits', ''],
  ['states: { FRONT.md: { timeout: 1 } }', '1:11 error misplaced-limits', 'front matter', ''],
  ['states: { NEW: { prompt: hello } }', '1:11 error missing-state', 'NEW', ''],
  ['a: [', '1:5 error yaml', 'not valid YAML', ''],
])('%s is reported', (manifest, place, message, remedy) => {
  const { diagnostics } = read(manifest, { 'FRONT.md': '---\nmodel: opus\n---\nGo.' });
  const [first] = diagnostics;
  expect(first).toMatchObject({ file: 'workflow.yaml' });
  expect(`${first?.line}:${first?.column} ${first?.severity} ${first?.code}`).toBe(place);
  expect(first?.message).toContain(message);
  expect(first?.remedy ?? '').toContain(remedy);
});

test('a manifest that is not UTF-8 is an error', () => {
  const bytes = new Map([
    ['START.md', new TextEncoder().encode('Go.')],
    ['workflow.yaml', new Uint8Array([0x61, 0x3a, 0xff])],
  ]);
  const reading = readFiles(bytes, 'unix');
  expect(reading.ok && reading.workflow.diagnostics).toMatchObject([
    { severity: 'error', code: 'not-utf8', file: 'workflow.yaml' },
  ]);
});

test.each(['workflow.yml', 'Workflow.yaml'])('a file with the name %s is reported', (name) => {
  const { diagnostics } = read('', { [name]: 'default_budget: 1' });
  expect(diagnostics).toMatchObject([
    { severity: 'error', code: 'misnamed-manifest', file: name, nearest: 'workflow.yaml' },
  ]);
});
