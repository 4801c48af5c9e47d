import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { upTo } from '../../test/long.ts';
import { AGENTS } from '../execute/agents/agents.ts';
import { readYamlWorkflow } from './yaml-workflow.ts';

const read = (text: string) => readYamlWorkflow('w.yaml', text, AGENTS);

test('a workflow', () => {
  const text = `id: triage
name: Triage of issues
description: Sorts them
input: the number of an issue
default_budget: 2.5
environment:
  REGION: eu
  COUNT: 007
states:
  START:
    model: opus
    allowed_transitions:
      - { tag: goto, target: CHECK }
    prompt: |
      Read it.

      Then go on.
  CHECK:
    sh: |
      echo hello
    ps1: Write-Output hello
`;
  expect(read(text)).toEqual({
    about: {
      id: 'triage',
      title: 'Triage of issues',
      description: 'Sorts them',
      input: { label: 'the number of an issue', required: false },
      defaultBudgetUsd: 2.5,
      environment: { REGION: 'eu', COUNT: '007' },
    },
    states: [
      {
        kind: 'prompt',
        name: 'START.md',
        template: 'Read it.\n\nThen go on.\n',
        place: { file: 'w.yaml', line: 15, column: 7, indent: 7 },
        policy: {
          choices: { model: 'opus' },
          allowed: [{ tag: 'goto', body: 'CHECK', attributes: {}, line: 13, column: 9 }],
          forceImplicit: false,
          onInterrupt: 'continue',
          evaluators: [],
          ensures: [],
        },
      },
      {
        kind: 'script',
        name: 'CHECK.sh',
        text: 'echo hello\n',
        place: { file: 'w.yaml', line: 20, column: 7, indent: 7 },
        interpreter: 'bash',
        limits: {},
      },
      {
        kind: 'script',
        name: 'CHECK.ps1',
        text: 'Write-Output hello',
        place: { file: 'w.yaml', line: 21, column: 10, indent: 10 },
        interpreter: 'powershell',
        limits: {},
      },
    ],
    diagnostics: [],
  });
});

test.each<[string, string, string, string?]>([
  // text, line:column code, part of the message, nearest
  ['', '1:1 bad-value', 'empty'],
  ['text', '1:1 bad-value', 'the text "text"'],
  ['name: x', '1:1 no-states', 'no states'],
  ['states: []', '1:9 bad-value', 'a list'],
  ['states: [', '1:10 yaml', 'YAML'],
  ['states: {}\nstats: 1', '2:1 unknown-key', 'stats', 'states'],
  ['states: {}\nid: a b', '2:5 bad-value', 'a b'],
  ['states: {}\nname: []', '2:7 bad-value', 'a list'],
  ['states: {}\ndefault_budget: -1', '2:17 bad-value', '-1'],
  ['states: {}\ndefault_budget: 0', '2:17 unused-key', 'cannot make the budget unlimited'],
  ['states: {}\nenvironment: x', '2:14 bad-value', 'a map'],
  ['states: {}\nenvironment: {PATH: x}', '2:15 bad-name', 'PATH'],
  ['states: {}\nenvironment: {A: [x]}', '2:18 bad-value', 'a list'],
  ['states:\n  A.md: {prompt: x}', '2:3 bad-name', 'extension', 'A'],
  ['states:\n  a/b: {prompt: x}', '2:3 bad-name', 'is a path'],
  ['states:\n  .a: {prompt: x}', '2:3 bad-name', 'dot'],
  ['states:\n  README: {prompt: x}', '2:3 bad-name', 'describes a workflow'],
  ['states:\n  A: {sh: x, model: opus}', '2:14 unused-key', 'no effect'],
  ['states:\n  A: {prompt: x, modle: opus}', '2:18 unknown-key', 'modle', 'model'],
  ['states:\n  A: {promt: x, sh: y}', '2:7 unknown-key', 'promt', 'prompt'],
])('a fault outside states: %s', (text, place, message, meant) => {
  const [first] = read(text).diagnostics;
  expect(`${first?.line}:${first?.column} ${first?.code}`).toBe(place);
  expect(first).toMatchObject({ file: 'w.yaml', message: expect.stringContaining(message) });
  expect(first?.nearest).toBe(meant);
});

test.each<[string, string, string[], string]>([
  // state, line:column code, broken states, part of the message
  ['{}', '2:3 no-kind', ['A.md'], 'neither a prompt nor a script'],
  ['text', '2:6 bad-value', ['A.md'], 'the text "text"'],
  ['{prompt: x, sh: y}', '2:7 two-kinds', ['A.md'], 'both'],
  ['{sh: [x]}', '2:11 bad-value', ['A.sh'], 'a list'],
  ['{prompt: }', '2:7 bad-value', ['A.md'], 'empty'],
  ['{prompt: x, model: opsu}', '2:25 unknown-model', ['A.md'], 'opsu'],
  ['{prompt: x, force_implicit: true}', '2:18 force-implicit', ['A.md'], 'needs exactly one'],
])('a broken state: %s', (state, place, names, message) => {
  const { states, diagnostics } = read(`states:\n  A: ${state}\n  B: {prompt: x}\n`);
  expect(diagnostics).toEqual([]);
  expect(states?.map(({ name, kind }) => `${kind} ${name}`)).toEqual([
    ...names.map((name) => `broken ${name}`),
    'prompt B.md',
  ]);
  const [broken] = states ?? [];
  const [first] = broken?.kind === 'broken' ? broken.diagnostics : [];
  expect(`${first?.line}:${first?.column} ${first?.code}`).toBe(place);
  expect(first).toMatchObject({ file: 'w.yaml', message: expect.stringContaining(message) });
});

test('no text makes the reader throw', () => {
  const words = fc.constantFrom(
    ...'states: START: prompt: sh: model: environment: id: x'.split(' '),
    ...['- ', '[', ']', '{', '}', ', ', '\n', '\n  ', '\n    ', '&a ', '*a', '"', '|\n', '? '],
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(words, fc.string()), { maxLength: 30 }), (parts) => {
      expect(read(parts.join('')).diagnostics).toBeInstanceOf(Array);
    }),
    upTo(1_000),
  );
});
