import { describe, expect, it } from 'vitest';
import { readTranscript, transcriptFolder, transcriptPath } from './transcript.ts';

function entry(type: string, uuid: string, parentUuid: string | null, content: unknown): object {
  return { type, uuid, parentUuid, message: { role: type, content } };
}
const textBlock = (text: string) => [{ type: 'text', text }];
const call = [{ type: 'tool_use', id: 't', name: 'Bash', input: {} }];
const returned = [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }];
const apiError = (uuid: string, parentUuid: string) => ({
  ...entry('assistant', uuid, parentUuid, textBlock('API Error: 500')),
  message: { model: '<synthetic>', content: textBlock('API Error: 500') },
});
const cost = (totalCostUSD: number) => ({ type: 'cost-state', totalCostUSD });

const beginning = [
  { type: 'queue-operation', operation: 'enqueue' },
  entry('user', 'p1', null, textBlock('one')),
  entry('assistant', 'a1', 'p1', textBlock('first')),
  { type: 'attachment', uuid: 'x1', parentUuid: 'a1' },
];

function transcript(...lines: object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

describe('where to cut the history so that a failed prompt is not in it twice', () => {
  it.each<[string, object[], string[], object]>([
    ['an empty transcript', [], ['p2'], { hasPrompt: false }],
    ['the prompt never arrived', beginning, ['p2'], { hasPrompt: false }],
    ['the prompt is the first one', beginning, ['p1'], { hasPrompt: true }],
    [
      'after an answer, before attachments',
      [...beginning, entry('user', 'p2', 'x1', textBlock('two')), apiError('e2', 'p2')],
      ['p2'],
      { hasPrompt: true, cutAt: 'a1' },
    ],
    [
      'before the report of an error',
      [...beginning, apiError('e1', 'x1'), entry('user', 'p2', 'e1', textBlock('two'))],
      ['p2'],
      { hasPrompt: true, cutAt: 'a1' },
    ],
    [
      'before a tool call that was killed',
      [
        ...beginning,
        entry('assistant', 'c1', 'x1', call),
        entry('user', 'p2', 'c1', textBlock('two')),
      ],
      ['p2'],
      { hasPrompt: true, cutAt: 'a1' },
    ],
    [
      'after a prompt whose work was killed',
      [
        ...beginning,
        entry('user', 'p2', 'x1', textBlock('two')),
        entry('assistant', 'c2', 'p2', call),
        { ...entry('user', 'm2', 'c2', textBlock('a note of Claude Code')), isMeta: true },
        entry('user', 'p3', 'm2', textBlock('go on')),
      ],
      ['p3'],
      { hasPrompt: true, cutAt: 'p2' },
    ],
    [
      'after the result of a tool',
      [
        ...beginning,
        entry('assistant', 'c1', 'x1', call),
        entry('user', 'r1', 'c1', returned),
        entry('user', 'p2', 'r1', textBlock('two')),
      ],
      ['p2'],
      { hasPrompt: true, cutAt: 'r1' },
    ],
    [
      'not in the messages of another attempt',
      [
        ...beginning,
        entry('user', 'p2', 'x1', textBlock('two')),
        entry('assistant', 'c2', 'p2', textBlock('half')),
        entry('user', 'p3', 'a1', textBlock('two')),
      ],
      ['p3'],
      { hasPrompt: true, cutAt: 'a1' },
    ],
    [
      'before the first attempt that arrived',
      [
        ...beginning,
        entry('user', 'p2', 'x1', textBlock('two')),
        entry('assistant', 'c2', 'p2', textBlock('half')),
        entry('user', 'p3', 'c2', textBlock('go on')),
      ],
      ['lost', 'p2', 'p3'],
      { hasPrompt: true, cutAt: 'a1' },
    ],
    [
      'in a file whose lines name each other as parents',
      [
        { type: 'attachment', uuid: 'x', parentUuid: 'y' },
        { type: 'attachment', uuid: 'y', parentUuid: 'x' },
        entry('user', 'p', 'x', textBlock('p')),
      ],
      ['p'],
      { hasPrompt: true },
    ],
  ])('%s', (_, lines, prompts, expected) => {
    expect(readTranscript(transcript(...lines), prompts)).toEqual(expected);
  });
});

it('finds the last total and ignores a line that was cut off', () => {
  const text = `${transcript(cost(0.06), ...beginning, cost(0.12))}{"type":"cost-state","totalCos`;
  expect(readTranscript(text)).toEqual({ hasPrompt: false, costUsd: 0.12 });
});

it('ignores lines that are not JSON', () => {
  expect(readTranscript('null\n42\n[]\nnoise\n\n{"uuid":1}')).toEqual({ hasPrompt: false });
});

describe('where a transcript is', () => {
  it('writes the directory with dashes', () => {
    expect(transcriptPath('/home/me/.claude', '/home/me/My Project_2.0', 'S')).toBe(
      '/home/me/.claude/projects/-home-me-My-Project-2-0/S.jsonl',
    );
  });

  it('shortens a long directory as Claude Code does', () => {
    const folder = 'a_very.long folder name with ünïcode '.repeat(3).trim();
    expect(transcriptFolder(`/tmp/probe-ZLZ1td/${folder}/${folder}/${folder}`)).toBe(
      '-tmp-probe-ZLZ1td-a-very-long-folder-name-with--n-code-a-very-long-folder-name-with--n-code-a-very-long-folder-name-with--n-code-a-very-long-folder-name-with--n-code-a-very-long-folder-name-with--n-co-w2djqn',
    );
  });
});
