import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { upTo } from '../../test/long.ts';
import { AGENTS } from '../execute/agents/agents.ts';
import type { Policy } from '../model/workflow.ts';
import { readPrompt } from './front-matter.ts';

const readText = (text: string) => readPrompt('A.md', text, AGENTS);
const read = (yaml: string) => readText(`---\n${yaml}\n---\nDo it.\n`);

describe('valid front matter', () => {
  test.each<[string, Partial<Policy>]>([
    ['', {}],
    ['# nothing', {}],
    ['model: opus', { choices: { model: 'opus' } }],
    ['model: "sonnet[1m]"', { choices: { model: 'sonnet[1m]' } }],
    ['model: claude-opus-4-5-20251101', { choices: { model: 'claude-opus-4-5-20251101' } }],
    ['effort: high', { choices: { effort: 'high' } }],
    ['effort: xhigh', { choices: { effort: 'xhigh' } }],
    ['timeout: 90', { idleTimeoutMs: 90_000 }],
    ['timeout: 0', { idleTimeoutMs: 0 }],
    ['timeout: 0.5', { idleTimeoutMs: 500 }],
    ['max_visits: 3', { maxVisits: 3 }],
    ['on_interrupt: restart', { onInterrupt: 'restart' }],
    ['force_implicit: false', { forceImplicit: false }],
    [
      'allowed_tools: [Read, "Bash(git log:*)", mcp__server__tool]\ndisallowed_tools: [WebFetch]',
      {
        choices: {
          allowedTools: ['Read', 'Bash(git log:*)', 'mcp__server__tool'],
          disallowedTools: ['WebFetch'],
        },
      },
    ],
    ['allowed_tools:', { choices: { allowedTools: [] } }],
    ['permission_mode: plan', { choices: { permissionMode: 'plan' } }],
    ['permission_mode: acceptEdits', { choices: { permissionMode: 'acceptEdits' } }],
    [
      'allowed_transitions:\n  - { tag: goto, target: B }\n  - tag: result',
      {
        allowed: [
          { tag: 'goto', body: 'B', attributes: {}, line: 3, column: 5 },
          { tag: 'result', attributes: {}, line: 4, column: 5 },
        ],
      },
    ],
    [
      'allowed_transitions: [{tag: fork, target: W, next: N, number: 007, flag: yes}]',
      {
        allowed: [
          {
            tag: 'fork',
            body: 'W',
            attributes: { next: 'N', number: '007', flag: 'yes' },
            line: 2,
            column: 23,
          },
        ],
      },
    ],
    [
      'allowed_transitions: [{tag: ask, next: N, timeout: 24h, timeout_next: T}]',
      {
        allowed: [
          {
            tag: 'ask',
            attributes: { next: 'N', timeout: '24h', timeout_next: 'T' },
            line: 2,
            column: 23,
          },
        ],
      },
    ],
    [
      'allowed_transitions: [{tag: fork, target: W, base: main}, {tag: join, target: M}]',
      {
        allowed: [
          { tag: 'fork', body: 'W', attributes: { base: 'main' }, line: 2, column: 23 },
          { tag: 'join', body: 'M', attributes: {}, line: 2, column: 59 },
        ],
      },
    ],
    [
      'force_implicit: true\nallowed_transitions: [{tag: goto, target: B}]',
      {
        forceImplicit: true,
        allowed: [{ tag: 'goto', body: 'B', attributes: {}, line: 3, column: 23 }],
      },
    ],
    [
      'shared: &b [{tag: goto, target: B}]\nallowed_transitions: *b',
      { allowed: [{ tag: 'goto', body: 'B', attributes: {}, line: 2, column: 13 }] },
    ],
    [
      'evaluators:\n  - {matches: "(?im)unable to", then: {tag: goto, target: E.md}}',
      {
        evaluators: [
          {
            kind: 'matches',
            pattern: '(?im)unable to',
            transition: { name: 'goto', attributes: {}, body: 'E.md' },
            line: 3,
            column: 5,
          },
        ],
      },
    ],
    [
      'evaluators:\n  - {visits: 5, then: {tag: result, payload: ""}}\n  - {cost: 4.00, then: {tag: fork, target: W, next: N}}',
      {
        evaluators: [
          {
            kind: 'visits',
            count: 5,
            transition: { name: 'result', attributes: {}, body: '' },
            line: 3,
            column: 5,
          },
          {
            kind: 'cost',
            usd: 4,
            transition: { name: 'fork', attributes: { next: 'N' }, body: 'W' },
            line: 4,
            column: 5,
          },
        ],
      },
    ],
    [
      'evaluators: [{prompt: JUDGE.md, expect: YES, then: {tag: goto, target: R}}]',
      {
        evaluators: [
          {
            kind: 'prompt',
            state: 'JUDGE.md',
            expect: 'YES',
            transition: { name: 'goto', attributes: {}, body: 'R' },
            line: 2,
            column: 14,
          },
        ],
      },
    ],
  ])('%s', (yaml, policy) => {
    const prompt = read(yaml);
    expect(prompt.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(prompt.policy).toEqual({
      forceImplicit: false,
      onInterrupt: 'continue',
      evaluators: [],
      ensures: [],
      choices: {},
      ...policy,
    });
    expect(prompt.template).toBe('Do it.\n');
    expect(prompt.place.line).toBe(yaml.split('\n').length + 3);
  });
});

describe('faults', () => {
  test.each<[string, string, string, string?]>([
    // front matter, line:column code, part of the message, nearest
    ['permission_mode: bypassPermissions', '2:18 bad-permission-mode', 'a workflow may ask for'],
    ['permission_mode: BypassPermissions', '2:18 bad-permission-mode', 'a workflow may ask for'],
    ['permission_mode: auto', '2:18 bad-permission-mode', 'a workflow may ask for'],
    ['permission_mode: pla', '2:18 bad-permission-mode', 'a workflow may ask for', 'plan'],
    ['allowed_tools: Read', '2:16 bad-value', 'allowed_tools must be a list'],
    ['allowed_tools: [--settings]', '2:17 bad-value', 'An entry of allowed_tools must be a tool'],
    ['disallowed_tools: ["Read\\nX"]', '2:20 bad-value', 'disallowed_tools must be a tool'],
    ['disallowed_tools: [{}]', '2:20 bad-value', 'disallowed_tools must be a tool'],
    [
      'alowed_transitions: []',
      '2:1 unknown-key',
      'no key "alowed_transitions"',
      'allowed_transitions',
    ],
    ['model: opus\nbanana: 1', '3:1 unknown-key', 'banana'],
    ['model: opsu', '2:8 unknown-model', 'opsu', 'opus'],
    ['model: gpt', '2:8 unknown-model', 'gpt'],
    ['model: [[opus]]', '2:9 bad-value', 'a list'],
    ['model:', '2:1 bad-value', 'empty'],
    ['effort: hihg', '2:9 unknown-effort', 'hihg', 'high'],
    ['effort: very much', '2:9 bad-value', 'the text "very much"'],
    ['timeout: 10m', '2:10 bad-value', 'the text "10m"'],
    ['timeout: -1', '2:10 bad-value', '-1'],
    ['timeout: .inf', '2:10 bad-value', '.inf'],
    ['timeout: .nan', '2:10 bad-value', '.nan'],
    ['max_visits: 0', '2:13 bad-value', 'from 1 up'],
    ['max_visits: 1.5', '2:13 bad-value', '1.5'],
    ['on_interrupt: go', '2:15 bad-value', 'continue or restart'],
    ['force_implicit: "yes"', '2:17 bad-value', 'true or false'],
    ['force_implicit: true', '2:1 force-implicit', 'needs exactly one'],
    [
      'force_implicit: true\nallowed_transitions: [{tag: result}]',
      '2:1 force-implicit',
      'needs exactly one',
    ],
    ['allowed_transitions: []', '2:1 empty-list', 'empty'],
    ['allowed_transitions:', '2:1 empty-list', 'empty'],
    ['allowed_transitions: goto', '2:22 bad-value', 'a list'],
    ['allowed_transitions: [goto]', '2:23 bad-value', 'the text "goto"'],
    ['allowed_transitions:\n  - target: B', '3:5 missing-tag', 'no tag'],
    ['allowed_transitions:\n  - tag: gotoo', '3:10 unknown-tag', 'gotoo', 'goto'],
    ['allowed_transitions:\n  - {tag: goto, cd: /x}', '3:17 bad-transition', 'cd is not allowed'],
    ['allowed_transitions:\n  - {tag: goto, target: a/b}', '3:25 bad-transition', 'is a path'],
    ['allowed_transitions:\n  - {tag: call, retrun: B}', '3:17 bad-transition', 'retrun', 'return'],
    ['allowed_transitions:\n  - {tag: call, return: ..}', '3:25 bad-transition', '".."'],
    [
      'allowed_transitions:\n  - {tag: result, target: B}',
      '3:19 bad-transition',
      'payload',
      'payload',
    ],
    ['allowed_transitions:\n  - {tag: fork, PATH: B}', '3:17 bad-transition', 'PATH'],
    ['allowed_transitions:\n  - {tag: goto, target: [B]}', '3:25 bad-value', 'a list'],
    ['allowed_transitions:\n  - {tag: ask, timeout: soon}', '3:25 bad-transition', 'soon'],
    [
      'allowed_transitions:\n  - {tag: goto, timeout_next: B}',
      '3:17 bad-transition',
      'no attribute timeout_next',
    ],
    ...[
      ['goto', 'the target is missing'],
      ['reset, cd: d', 'the target is missing'],
      ['call, target: B', 'return is missing'],
      ['function, target: B', 'return is missing'],
      ['function, return: B', 'the target is missing'],
      ['fork, target: B', 'next is missing, and no entry allows a goto or a join'],
      ['fork, next: B', 'the target is missing'],
      ['join', 'the target is missing'],
      ['join, target: B, timeout_next: B', 'timeout and timeout_next belong together'],
      ['join, target: B, timeout: 1h', 'timeout and timeout_next belong together'],
      ['ask', 'next is missing'],
      ['ask, next: B, timeout_next: B', 'timeout and timeout_next belong together'],
      ['ask, next: B, timeout: 1h', 'timeout and timeout_next belong together'],
      ['call-workflow, return: B', 'the path is missing'],
      ['call-workflow, path: ../w', 'return is missing'],
      ['function-workflow, path: ../w', 'return is missing'],
      ['fork-workflow, path: ../w', 'next is missing, and no entry'],
      ['reset-workflow', 'the path is missing'],
    ].map(([entry = '', message = '']): [string, string, string] => [
      `allowed_transitions:\n  - {tag: result}\n  - {tag: ${entry}}`,
      '4:5 incomplete-transition',
      message,
    ]),
    ['evaluators: {}', '2:13 bad-value', 'a list'],
    ['evaluators:\n  - {then: {tag: goto, target: B}}', '3:5 bad-evaluator', 'none'],
    [
      'evaluators:\n  - {visits: 1, cost: 1, then: {tag: goto, target: B}}',
      '3:17 bad-evaluator',
      'visits and cost',
    ],
    ['evaluators:\n  - {visits: 1}', '3:5 bad-evaluator', 'then'],
    ['evaluators:\n  - {visits: 0, then: {tag: goto, target: B}}', '3:14 bad-value', 'from 1 up'],
    ['evaluators:\n  - {cost: free, then: {tag: goto, target: B}}', '3:12 bad-value', 'USD'],
    [
      'evaluators:\n  - {matches: "(", then: {tag: goto, target: B}}',
      '3:15 bad-regex',
      'missing closing )',
    ],
    [
      'evaluators:\n  - {matches: "a(?!b)", then: {tag: goto, target: B}}',
      '3:15 bad-regex',
      'has a negative lookahead',
    ],
    [
      'evaluators:\n  - {visits: 1, then: {tag: call, target: B}}',
      '3:23 incomplete-transition',
      'return',
    ],
    ['evaluators:\n  - {visits: 1, then: {tag: goto}}', '3:23 incomplete-transition', 'target'],
    [
      'evaluators:\n  - {visits: 1, then: {tag: fork, target: B}}',
      '3:23 incomplete-transition',
      'next',
    ],
    [
      'evaluators:\n  - {prompt: J, then: {tag: goto, target: B}}',
      '3:6 bad-evaluator',
      'no expect',
    ],
    [
      'evaluators:\n  - {prompt: a/b, expect: X, then: {tag: goto, target: B}}',
      '3:14 bad-name',
      'is a path',
    ],
    [
      'evaluators:\n  - {visits: 1, expect: X, then: {tag: goto, target: B}}',
      '3:17 bad-evaluator',
      'belongs to a prompt',
    ],
    [
      'evaluators:\n  - {vists: 1, cost: 1, then: {tag: goto, target: B}}',
      '3:6 unknown-key',
      'vists',
      'visits',
    ],
    ['just a text', '2:1 bad-value', 'the text "just a text"'],
    ['- a list', '2:1 bad-value', 'a list'],
    ['model: opus\nmodel: haiku', '3:1 yaml', 'unique'],
    ['model: [opus', '2:13 yaml', 'YAML'],
    ['model: opus: x', '2:8 yaml', 'YAML'],
    ['\tmodel: opus', '2:1 yaml', 'Tabs'],
    ['model: *no', '2:8 yaml', '&no'],
    ['model: !mine opus', '2:8 yaml', '!mine'],
    ['? [a]\n: b', '2:3 bad-key', 'plain word'],
  ])('%s', (yaml, place, message, meant) => {
    const [first] = read(yaml).diagnostics;
    expect(`${first?.line}:${first?.column} ${first?.code}`).toBe(place);
    expect(first?.message).toContain(message);
    expect(first?.file).toBe('A.md');
    expect(first?.nearest).toBe(meant);
  });
});

describe('the end of front matter', () => {
  test.each<[string, string, string, number]>([
    ['no front matter', 'Do it.\n---\nmore', 'Do it.\n---\nmore', 1],
    ['a longer line', '----\nDo it.', '----\nDo it.', 1],
    ['empty', '---\n---\nDo it.', 'Do it.', 3],
    ['nothing after it', '---\nmodel: opus\n---', '', 3],
    ['CRLF', '---\r\nmodel: opus\r\n---\r\nDo it.\r\n', 'Do it.\r\n', 4],
    ['spaces after the dashes', '--- \nmodel: opus\n---\t\nDo it.', 'Do it.', 4],
    ['a BOM', '\uFEFF---\nmodel: opus\n---\nDo it.', 'Do it.', 4],
    ['a rule in the body', '---\n---\nA\n---\nB', 'A\n---\nB', 3],
    ['dashes in a text', '---\nmodel: opus # ---\n---\nB', 'B', 4],
  ])('%s', (_, text, template, line) => {
    const place = { line, column: 1, indent: 1 };
    expect(readText(text)).toMatchObject({ template, place, diagnostics: [] });
  });

  test('CRLF does not change the columns', () => {
    const [fault] = readText('---\r\neffort: low\r\nmodel: opsu\r\n---\r\n').diagnostics;
    expect(fault).toMatchObject({ line: 3, column: 8 });
  });

  test('unclosed front matter is an error', () => {
    expect(readText('---\nmodel: opus\n').diagnostics).toMatchObject([
      { severity: 'error', code: 'unclosed-front-matter', line: 1, column: 1 },
    ]);
  });
});

test('very deep nesting is refused', () => {
  const { diagnostics } = read(`model: ${'['.repeat(20_000)}`);
  expect(diagnostics).toMatchObject([
    { code: 'yaml', message: expect.stringContaining('levels deep') },
  ]);
});

test('a cycle of aliases is reported', () => {
  const { diagnostics } = read('allowed_transitions: &a\n  - *a');
  expect(diagnostics).toMatchObject([
    { code: 'yaml', line: 3, column: 5, message: 'The value of &a contains itself.' },
  ]);
});

test('no text makes the reader throw', () => {
  const words = fc.constantFrom(
    ...'allowed_transitions evaluators matches then tag goto fork timeout model'.split(' '),
    ...[
      '- ',
      ': ',
      '[',
      ']',
      '{',
      '}',
      ', ',
      '\n',
      '\n  ',
      '---\n',
      '&a ',
      '*a',
      '"',
      '|\n',
      '? ',
      '(',
      '!x ',
    ],
  );
  const texts = fc.array(fc.oneof({ weight: 8, arbitrary: words }, fc.string()), { maxLength: 40 });
  fc.assert(
    fc.property(texts, (parts) => {
      const text = `---\n${parts.join('')}\n---\nEnd`;
      for (const { line, column } of readText(text).diagnostics) {
        expect(line).toBeGreaterThanOrEqual(1);
        expect(line).toBeLessThanOrEqual(text.split('\n').length);
        expect(column).toBeGreaterThanOrEqual(1);
      }
    }),
    upTo(2_000),
  );
});

describe('front matter that is not at the very start', () => {
  const front = '---\nmodel: opus\nallowed_transitions: [{tag: result}]\n---\nDo it.\n';
  test.each([
    ['after a comment', `<!-- by A -->\n${front}`, 2],
    ['after several comments', `<!-- a\nb -->\n\n<!-- --- -->\n${front}`, 5],
    ['after blank lines', `\n  \n${front}`, 3],
    [
      'after a comment with Windows line ends',
      `<!-- a -->\r\n${front.replaceAll('\n', '\r\n')}`,
      2,
    ],
    ['after a byte order mark and a comment', `\uFEFF<!-- a -->\n${front}`, 2],
  ])('%s is an error', (_, text, line) => {
    const { diagnostics } = readText(text);
    expect(diagnostics).toMatchObject([{ code: 'late-front-matter', severity: 'error', line }]);
  });

  test.each([
    ['rules between paragraphs', '<!-- a -->\n---\nSome text.\n---\nMore.'],
    ['one rule', '\n---\nmodel: opus'],
    ['a comment that is never closed', `<!-- a\n${front}`],
    ['text before it', `Hello.\n${front}`],
    ['a comment on the same line', `<!-- a --> ${front}`],
    ['nothing', '<!-- a -->\n\n'],
  ])('%s: not front matter', (_, text) => {
    expect(readText(text)).toMatchObject({ diagnostics: [], template: text });
  });

  test('a million comments are skipped in linear time', () => {
    const text = '<!---->'.repeat(1_000_000);
    expect(readText(text).diagnostics).toEqual([]);
    expect(readText(' '.repeat(1_000_000)).diagnostics).toEqual([]);
  });
});

test('aliases that expand to too much text are a fault, and are not read', () => {
  const long = 'x'.repeat(10_000);
  const entries = '  - {tag: result, payload: *long}\n'.repeat(1_000);
  const text = `---\nmodel: &long ${long}\nallowed_transitions:\n${entries}---\nx`;
  const messages = readText(text).diagnostics.map(({ message }) => message);
  expect(messages).toContain('The aliases of this YAML expand to too much text.');
  expect(messages.length).toBeLessThan(1_000);
});
