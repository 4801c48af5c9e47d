import { expect, test } from 'vitest';
import type { StepMessage } from '../../model/conversation.ts';
import { partRows } from '../../observe/screen.ts';
import { messagesParts } from './step-parts.ts';

const call = (name: string, input: object): StepMessage => ({
  ...{ kind: 'tool-call', id: 't', name, inner: false, omitted: 0 },
  summary: 'command' in input ? String(input.command).split('\n', 1).join() : '/project/src/a.ts',
  text: JSON.stringify(input),
});

test.each<[string, StepMessage, readonly string[]]>([
  [
    'the lines that it changes',
    call('Edit', { file_path: '/project/src/a.ts', old_string: 'a\nb', new_string: 'a\nc' }),
    ['calls Edit src/a.ts', '  |   a', '  | - b', '  | + c'],
  ],
  [
    'the lines of a new file',
    call('Write', { file_path: '/project/src/a.ts', content: 'one\x1b[2J\n\ntwo\n' }),
    ['calls Write src/a.ts', '  | + one\\x1b[2J', '  | + ', '  | + two'],
  ],
  ['nothing else of a short command', call('Bash', { command: 'ls -l' }), ['calls Bash ls -l']],
  [
    'all lines of a longer command',
    call('Bash', { command: 'cd src\nls' }),
    ['calls Bash cd src', '  | cd src', '  | ls'],
  ],
])('a tool call shows %s', (_, message, expected) => {
  const parts = messagesParts([message], { cwd: '/project' });
  const rows = parts.flatMap((part) => partRows(part, { color: false }));
  expect(rows).toEqual(['', ...expected]);
});
