import { expect, test } from 'vitest';
import { oneLine } from '../../observe/words.ts';
import { settingsOf } from '../claude/tools.ts';
import type { Fields } from '../json.ts';
import { type Caller, ruleFor } from './call-rule.ts';

const CALLER: Caller = { name: 'opencode', cwd: '/project' };
const CALL: Fields = {
  toolCallId: 'c1',
  status: 'pending',
  kind: 'execute',
  title: 'git push',
  rawInput: { command: 'git push', cwd: '/project' },
};
const ruleOf = (call: Fields, tool = 'execute', caller = CALLER) => ruleFor(call, tool, caller);

test('the same call has the same rule, which names it', () => {
  expect(ruleOf({ ...CALL, toolCallId: 'c2', status: 'in_progress', locations: [] })).toBe(
    ruleOf(CALL),
  );
  expect(ruleOf(CALL)).toMatch(/^repeats by opencode in \/project: execute git push #[\w-]{43}$/);
});

test('the words with which a model describes a command do not matter', () => {
  const described = (description: string): Fields => ({
    ...CALL,
    rawInput: { ...Object(CALL.rawInput), description },
    title: `git push (${description})`,
    content: [{ type: 'content', content: { type: 'text', text: description } }],
  });
  expect(ruleOf(described('Publishes it'))).toBe(ruleOf(described('Pushes')));
  expect(ruleOf({ ...described('a'), kind: 'other' })).not.toBe(
    ruleOf({ ...described('b'), kind: 'other' }),
  );
});

test.each<[string, string | undefined]>([
  ['another agent', ruleOf(CALL, 'execute', { ...CALLER, name: 'gemini' })],
  ['another directory', ruleOf(CALL, 'execute', { ...CALLER, cwd: '/project/sub' })],
  ['another tool', ruleOf(CALL, 'edit')],
  ['another kind', ruleOf({ ...CALL, kind: 'other' })],
  ['another title', ruleOf({ ...CALL, title: 'git pull' })],
  ['another argument', ruleOf({ ...CALL, rawInput: { command: 'git push -f', cwd: '/project' } })],
  ['one more argument', ruleOf({ ...CALL, rawInput: { ...Object(CALL.rawInput), env: 'X=1' } })],
  ['another change', ruleOf({ ...CALL, content: [{ type: 'diff', path: 'a', newText: 'b' }] })],
])('%s has another rule', (_, rule) => {
  expect(rule).toBeDefined();
  expect(rule).not.toBe(ruleOf(CALL));
});

test.each([undefined, null, {}, [], 'git push', 7])(
  'a call whose arguments are %o has none, because others could look like it',
  (rawInput) => expect(ruleOf({ ...CALL, rawInput })).toBe(undefined),
);

test.each([
  'git push',
  'x\u001b[2J\n\u202etxt'.repeat(100),
  '\ud83d'.repeat(200),
  '😀'.repeat(200),
  'Bash(rm *), directory:/',
])('people see the whole rule, and Claude Code gets none of it: %o', (title) => {
  const rule = ruleOf({ ...CALL, title }, 'execute', { ...CALLER, cwd: `/${'deep/'.repeat(50)}` });
  expect(oneLine(rule ?? '')).toBe(rule);
  expect(Buffer.from(rule ?? '').toString()).toBe(rule);
  expect(settingsOf([rule ?? ''])).toEqual({ allow: [], additionalDirectories: [] });
});
