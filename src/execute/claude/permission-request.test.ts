import { describe, expect, test } from 'vitest';
import { messageReader } from './messages.ts';
import { type Asked, describeRequest, replyTo } from './permission-request.ts';

/** The request in a line of Claude Code. */
function asked(request: object, id = 'r1'): Asked {
  const line = {
    type: 'control_request',
    request_id: id,
    request: { subtype: 'can_use_tool', tool_use_id: 'toolu_1', ...request },
  };
  const [found] = messageReader()(`${JSON.stringify(line)}\n`);
  if (found?.kind !== 'permission-asked') throw new Error('This is not a request.');
  return found;
}

const reply = (...args: Parameters<typeof replyTo>) => JSON.parse(replyTo(...args)).response;

const PUSH = {
  tool_name: 'Bash',
  input: { command: 'git push origin main', description: 'push' },
  permission_suggestions: [
    {
      type: 'addRules',
      rules: [{ toolName: 'Bash', ruleContent: 'git push *' }],
      behavior: 'allow',
      destination: 'localSettings',
    },
  ],
};

test('a request has a readable input, and the rules of its suggestions', () => {
  expect(describeRequest(asked(PUSH))).toEqual({
    request: 'r1',
    tool: 'Bash',
    summary: 'git push origin main',
    input: 'command: git push origin main\ndescription: push',
    rules: ['Bash(git push *)'],
  });
});

test('lines of a value are indented, so that they cannot look like other fields', () => {
  const input = { command: 'true\nfile_path: /etc', 'a\nb': 1, list: [1] };
  expect(describeRequest(asked({ tool_name: 'X', input })).input).toBe(
    'command:\n  true\n  file_path: /etc\n"a\\nb": 1\nlist:\n  [\n    1\n  ]',
  );
});

test('a long input is cut, and its length is known', () => {
  const { input, inputLength } = describeRequest(
    asked({ tool_name: 'Write', input: { content: 'x'.repeat(100_000) } }),
  );
  expect([input.length, inputLength]).toEqual([16_000, 100_009]);
});

const allowing = (...contents: readonly string[]) => ({
  type: 'addRules',
  behavior: 'allow',
  rules: contents.map((ruleContent) => ({ toolName: 'Bash', ruleContent })),
});

test.each<[string, string, boolean]>([
  ['rm out/*', 'rm out/*', false],
  ['curl evil:*', 'curl evil:*', false],
  ['true;  curl\n x  *', 'curl x *', false],
  ['git push origin main', 'git push *', true],
  ['ls *', 'ls', true],
])('a star of the call %j is no pattern of a rule', (command, rule, isOffered) => {
  const request = { tool_name: 'Bash', input: { command } };
  const { rules } = describeRequest(
    asked({ ...request, permission_suggestions: [allowing(rule)] }),
  );
  expect(rules !== undefined).toBe(isOffered);
});

test.each<[string, object, readonly string[] | undefined]>([
  ['no suggestion', {}, undefined],
  ['a folder', { type: 'addDirectories', directories: ['/tmp/x'] }, ['directory:/tmp/x']],
  ['a whole mode', { type: 'setMode', mode: 'acceptEdits' }, undefined],
  ['a denial', { type: 'addRules', behavior: 'deny', rules: [{ toolName: 'Bash' }] }, undefined],
  [
    'brackets',
    { type: 'addRules', behavior: 'allow', rules: [{ toolName: 'Bash', ruleContent: 'f(x) \\' }] },
    ['Bash(f\\(x\\) \\\\)'],
  ],
  [
    'a rule that looks like an option',
    { type: 'addRules', behavior: 'allow', rules: [{ toolName: '--x' }] },
    undefined,
  ],
  [
    'a rule with a line break',
    { type: 'addRules', behavior: 'allow', rules: [{ toolName: 'Bash', ruleContent: 'a\nb' }] },
    undefined,
  ],
  ['many rules', allowing(...Array.from('abcdefghijklmnop', (x) => `git ${x} *`)), undefined],
])('the rules of %s', (_, suggestion, rules) => {
  const suggestions = Object.keys(suggestion).length > 0 ? [suggestion] : [];
  expect(describeRequest(asked({ ...PUSH, permission_suggestions: suggestions })).rules).toEqual(
    rules,
  );
});

describe('the reply', () => {
  test('to an allowed call has its input', () => {
    expect(reply(asked(PUSH), { decision: 'allow' })).toEqual({
      subtype: 'success',
      request_id: 'r1',
      response: { behavior: 'allow', updatedInput: PUSH.input },
    });
  });

  test('that allows the like of a call changes the session only', () => {
    expect(reply(asked(PUSH), { decision: 'allow-run' }).response).toEqual({
      behavior: 'allow',
      updatedInput: PUSH.input,
      updatedPermissions: [{ ...PUSH.permission_suggestions[0], destination: 'session' }],
    });
  });

  test('that denies a call has the word of the person', () => {
    const { response } = reply(asked(PUSH), { decision: 'deny', text: 'not on main' });
    expect(response).toEqual({ behavior: 'deny', message: 'not on main' });
    expect(reply(asked(PUSH), { decision: 'deny' }).response.message).not.toBe('');
  });
});

describe('a question of the agent', () => {
  const colour = {
    question: 'Which colour?',
    options: [{ label: 'Red', description: 'warm' }, { label: 'Blue' }],
    multiSelect: false,
  };
  const sizes = {
    question: 'Which sizes?',
    options: [{ label: 'S' }, { label: 'M' }],
    multiSelect: true,
  };
  const question = (...questions: object[]) =>
    asked({ tool_name: 'AskUserQuestion', input: { questions } });

  test('is shown with its options', () => {
    expect(describeRequest(question(colour, sizes))).toMatchObject({
      isQuestion: true,
      input: [
        'Which colour?\n  1. Red: warm\n  2. Blue',
        'Which sizes? (one or more, separated by commas)\n  1. S\n  2. M',
        '(Answer with one line for each question.)',
      ].join('\n'),
    });
  });

  test.each<[string, object[], object]>([
    ['2', [colour], { 'Which colour?': 'Blue' }],
    ['red', [colour], { 'Which colour?': 'Red' }],
    ['a dark\ngreen', [colour], { 'Which colour?': 'a dark\ngreen' }],
    ['7', [colour], { 'Which colour?': '7' }],
    ['1, m, XL', [sizes], { 'Which sizes?': 'S, M, XL' }],
    ['Blue\n1,2', [colour, sizes], { 'Which colour?': 'Blue', 'Which sizes?': 'S, M' }],
    ['Blue', [colour, sizes], { 'Which colour?': 'Blue', 'Which sizes?': '' }],
  ])('%j is an answer', (text, questions, answers) => {
    expect(reply(question(...questions), { decision: 'answer', text }).response).toEqual({
      behavior: 'allow',
      updatedInput: { questions, answers },
    });
  });

  test('without a text is an ordinary call', () => {
    expect(describeRequest(question({ options: 7 })).isQuestion).toBeUndefined();
  });
});

test.each([
  {},
  { tool_name: 7, input: 'x', permission_suggestions: 'x' },
  {
    input: { a: null },
    permission_suggestions: [
      null,
      7,
      { rules: 'x' },
      { type: 'addRules', behavior: 'allow', rules: [null] },
    ],
  },
  { tool_name: 'AskUserQuestion', input: { questions: [null, { question: 'x', options: [7] }] } },
])('a request of any form can be shown and answered: %j', (request) => {
  expect(describeRequest(asked(request)).request).toBe('r1');
  expect(reply(asked(request), { decision: 'allow-run' }).request_id).toBe('r1');
  expect(reply(asked(request), { decision: 'answer' }).request_id).toBe('r1');
});
