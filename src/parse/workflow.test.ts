import { expect, test } from 'vitest';
import { AGENTS } from '../execute/agents/agents.ts';
import type { SourceFile } from '../model/source.ts';
import type { Platform } from '../model/workflow.ts';
import { parseWorkflow } from './workflow.ts';

const file = (name: string, text = 'x'): SourceFile => ({
  name,
  content: { bytes: Buffer.from(text) },
});

const parse = (files: readonly SourceFile[], entry?: string, platform: Platform = 'unix') =>
  parseWorkflow(
    { ref: '/w', name: 'w', entry, files, about: {}, diagnostics: [] },
    platform,
    AGENTS,
  );

test.each<[string, string | undefined, Platform, string]>([
  // files, named entry, platform, entry or code
  ['START.md A.md', undefined, 'unix', 'START.md'],
  ['1_START.sh A.md', undefined, 'unix', '1_START.sh'],
  ['1_START.md START.md', undefined, 'unix', 'two-entries'],
  ['1_START.md START.bat', undefined, 'unix', '1_START.md'],
  ['1_START.md START.bat', undefined, 'windows', 'two-entries'],
  ['START.md START.sh', undefined, 'unix', 'ambiguous-entry'],
  ['START.md START.sh', undefined, 'windows', 'START.md'],
  ['START.bat', undefined, 'unix', 'no-entry'],
  ['A.md', undefined, 'unix', 'no-entry'],
  ['', undefined, 'unix', 'no-entry'],
  ['notes.txt', undefined, 'unix', 'no-entry'],
  ['START.md A.md', 'A', 'unix', 'A.md'],
  ['1_START.md START.md A.md', 'A.md', 'unix', 'A.md'],
  ['START.md', 'A', 'unix', 'no-such-state'],
  ['START.md A.bat', 'A', 'unix', 'no-such-state'],
])('%s begins at %s on %s: %s', (names, entry, platform, expected) => {
  const read = parse(
    names.split(' ').map((name) => file(name)),
    entry,
    platform,
  );
  expect(read.ok ? read.workflow.entry : read.code).toBe(expected);
});

test('without an entry, the message lists the expected names and the states', () => {
  expect(parse([file('A.md'), file('B.bat')])).toMatchObject({
    message:
      'The workflow w has no entry: it contains neither 1_START nor START (.md, .sh). The workflow has A.md, B.bat.',
    remedy: 'Add a START.md, or name the state at which to begin.',
  });
});

test('the message for a missing state names the nearest one', () => {
  expect(parse([file('REVIEW.md')], 'REVEIW')).toMatchObject({
    message: 'The workflow w cannot begin: there is no state "REVEIW". Similar names: REVIEW.md.',
    remedy: 'Name a state that it has, like REVIEW.md.',
  });
});

test('states that cannot be used stay, with their faults', () => {
  const read = parse([
    file('START.md', '---\nmodel: x\n---\n'),
    { name: 'A.md', content: { problem: 'It leaves.', remedy: 'Copy it.' } },
    file('.hidden.md'),
    file('table.csv'),
  ]);
  expect(
    read.ok && [...read.workflow.states.values()].map(({ name, kind }) => [name, kind]),
  ).toEqual([
    ['A.md', 'broken'],
    ['START.md', 'broken'],
  ]);
  expect(read.ok && read.workflow.diagnostics).toMatchObject([
    { file: 'A.md', code: 'unusable-file', message: 'It leaves.', remedy: 'Copy it.' },
    { file: 'START.md', code: 'unknown-model', line: 2 },
  ]);
});
