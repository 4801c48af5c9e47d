import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AGENTS } from '../execute/agents/agents.ts';
import { stateNameSchema } from '../model/state-name.ts';
import { readState } from './read-state.ts';
import { extensionOf, isStateFile, stemOf } from './state.ts';

const read = (name: string, bytes: string | Uint8Array) =>
  readState(stateNameSchema.parse(name), Buffer.from(bytes), AGENTS);

test.each([
  ['A.sh', 'bash'],
  ['A.bat', 'cmd'],
  ['A.ps1', 'powershell'],
])('%s is a script for %s', (name, interpreter) => {
  expect(read(name, '---\necho').state).toEqual({
    kind: 'script',
    name,
    text: '---\necho',
    place: { file: name, line: 1, column: 1, indent: 1 },
    interpreter,
    limits: {},
  });
});

test('a prompt', () => {
  expect(read('A.md', '---\nmodel: opus\nmodle: x\n---\nHallo Ä\n')).toMatchObject({
    state: {
      kind: 'prompt',
      name: 'A.md',
      template: 'Hallo Ä\n',
      policy: { choices: { model: 'opus' } },
    },
    diagnostics: [{ severity: 'warning', nearest: 'model', line: 3 }],
  });
});

test('a prompt with an error in its front matter is broken', () => {
  const { state, diagnostics } = read('A.md', '---\nmodel: x\nmodle: x\n---\n');
  expect(state).toEqual({ kind: 'broken', name: 'A.md', diagnostics });
  expect(diagnostics.map(({ severity }) => severity)).toEqual(['warning', 'error']);
});

test.each(['A.md', 'A.sh'])('%s that is not UTF-8 is broken', (name) => {
  const bytes = Buffer.concat([Buffer.from('ab\ncd'), Buffer.from([0xe4, 0x20])]);
  expect(read(name, bytes).state).toMatchObject({
    kind: 'broken',
    diagnostics: [
      {
        code: 'not-utf8',
        file: name,
        line: 2,
        column: 3,
        message: `${name} is not UTF-8: the byte E4 at offset 5 is not valid.`,
      },
    ],
  });
});

test('no bytes make the reader throw', () => {
  const front = fc.constantFrom('', '---\n', '---\nmodel: ', '---\nallowed_transitions:\n  - ');
  const names = fc.constantFrom('A.md', 'A.sh', 'A.bat', 'A.ps1');
  fc.assert(
    fc.property(names, front, fc.uint8Array(), (name, start, bytes) => {
      const { state } = read(
        name,
        Buffer.concat([Buffer.from(start), bytes, Buffer.from('\n---')]),
      );
      expect(state.name).toBe(name);
    }),
  );
});

describe('names', () => {
  test.each([
    ['A.md', '.md', 'A', true],
    ['A', undefined, 'A', false],
    ['v1.2', undefined, 'v1.2', false],
    ['v1.2.sh', '.sh', 'v1.2', true],
    ['A.MD', undefined, 'A.MD', false],
    ['.A.md', '.md', '.A', false],
    ['.md', '.md', '', false],
    ['README.md', '.md', 'README', false],
    ['README.sh', '.sh', 'README', true],
    ['Ä b.ps1', '.ps1', 'Ä b', true],
    ['A.md.bak', undefined, 'A.md.bak', false],
  ])('%s', (name, extension, stem, isState) => {
    expect(extensionOf(name)).toBe(extension);
    expect(stemOf(name)).toBe(stem);
    expect(isStateFile(name)).toBe(isState);
  });
});
