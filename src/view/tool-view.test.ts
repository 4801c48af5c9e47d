import { expect, test } from 'vitest';
import { toolView } from './tool-view.ts';

const view = (input: object) => toolView(JSON.stringify(input));

test.each<[string, object, object]>([
  [
    'a change',
    { file_path: 'a.ts', old_string: 'x', new_string: 'y' },
    {
      kind: 'change',
      file: 'a.ts',
      lines: [
        { kind: 'removed', text: 'x' },
        { kind: 'added', text: 'y' },
      ],
    },
  ],
  [
    'a new file',
    { file_path: 'a.ts', content: 'y\n' },
    { kind: 'change', file: 'a.ts', lines: [{ kind: 'added', text: 'y' }] },
  ],
  [
    'several changes',
    {
      file_path: 'a',
      edits: [
        { old_string: 'x', new_string: '' },
        { old_string: '', new_string: 'y' },
      ],
    },
    {
      kind: 'change',
      file: 'a',
      lines: [
        { kind: 'removed', text: 'x' },
        { kind: 'gap', text: '' },
        { kind: 'added', text: 'y' },
      ],
    },
  ],
  ['a command', { command: 'ls -l' }, { kind: 'command', command: 'ls -l', about: '' }],
  ['anything else', { pattern: 'x' }, { kind: 'input', text: '{\n  "pattern": "x"\n}' }],
  ['edits that are none', { file_path: 'a', edits: [{ x: 1 }] }, { kind: 'input' }],
])('%s', (_, input, expected) => {
  expect(view(input)).toMatchObject(expected);
});

test.each(['{"file_path": "a", "old_st', '[1]', 'null', ''])('%j stays as it is', (text) => {
  expect(toolView(text)).toEqual({ kind: 'input', text });
});
