import { expect, test } from 'vitest';
import type { RunEventOf } from '../model/event.ts';
import { stateNameSchema } from '../model/state-name.ts';
import { answerOf, type CodedItem, codesFor, readCode } from './answer-codes.ts';

const KEY = Buffer.alloc(32, 1);
const RUN = { id: 'r', startedAt: 1_700_000_000_000 };
const AT = 1_700_000_100_000;
const DAY = 86_400_000;

const asked: RunEventOf<'agent-asked'> = {
  type: 'agent-asked',
  at: AT,
  agent: 'main',
  question: 'Deploy?',
  next: stateNameSchema.parse('NEXT.md'),
};
const question: CodedItem = {
  ...{ kind: 'asking', agent: 'main', question: 'Deploy?', askedAt: AT, deadline: undefined },
};
const requested: RunEventOf<'permission-asked'> = {
  type: 'permission-asked',
  ...{ at: AT, agent: 'main', step: 2, request: 'q', tool: 'Bash', summary: 'rm', input: 'rm' },
};
const request: CodedItem = {
  ...{ kind: 'request', agent: 'main', step: 2, askedAt: AT },
  ...{ request: 'q', tool: 'Bash', summary: 'rm', input: 'rm' },
};

function codeOf(event: typeof asked | typeof requested, answer = 'text', lifetimeMs = DAY) {
  const found = codesFor(KEY, RUN, event, lifetimeMs)?.codes.find((one) => one.answer === answer);
  return found?.code ?? '';
}

function stands(code: string, item: CodedItem, run = RUN, key = KEY) {
  const read = readCode(code);
  return read && answerOf(key, read, run, item);
}

test('a question has one code for a text, and a request one for each decision', () => {
  expect(codesFor(KEY, RUN, asked, DAY)?.codes).toEqual([
    { answer: 'text', code: expect.stringMatching(/^(?:[0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-Z]{5}$/) },
  ]);
  const codes = codesFor(KEY, RUN, requested, DAY)?.codes ?? [];
  expect(codes.map(({ answer }) => answer)).toEqual(['allow', 'deny']);
  expect(stands(codeOf(asked), question)).toBe('text');
  expect(codes.map(({ code }) => stands(code, request))).toEqual(['allow', 'deny']);
  const askedByAgent = { ...requested, isQuestion: true as const };
  expect(codesFor(KEY, RUN, askedByAgent, DAY)?.codes.map(({ answer }) => answer)).toEqual([
    'text',
  ]);
});

test('people may type it as they like', () => {
  const code = codeOf(asked);
  const typed = code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l');
  expect(stands(typed, question)).toBe('text');
});

test.each(['', 'X', 'U'.repeat(25), '0'.repeat(24), '0'.repeat(26), '🙂'.repeat(25)])(
  '%j cannot be a code',
  (text) => {
    expect(readCode(text)).toBeUndefined();
  },
);

test.each<[what: string, CodedItem]>([
  ['another agent', { ...question, agent: 'main_x1' }],
  ['a later question', { ...question, askedAt: AT + 1 }],
  ['a changed question', { ...question, question: 'Delete?' }],
  ['a request', request],
])('a code is not valid for %s', (_what, item) => {
  expect(stands(codeOf(asked), item)).toBeUndefined();
});

test('a code is valid for one run, one key and one answer', () => {
  expect(stands(codeOf(asked), question, { ...RUN, id: 's' })).toBeUndefined();
  expect(stands(codeOf(asked), question, { ...RUN, startedAt: 1 })).toBeUndefined();
  expect(stands(codeOf(asked), question, RUN, Buffer.alloc(32, 2))).toBeUndefined();
  expect(codeOf(requested, 'allow')).not.toBe(codeOf(requested, 'deny'));
  const other = { ...request, input: 'rm -rf' };
  expect(stands(codeOf(requested, 'allow'), other)).toBeUndefined();
});

test('the time is part of the code, and cannot be changed', () => {
  const code = codeOf(asked);
  const minute = 60_000;
  const until = Math.floor((AT + DAY) / minute) * minute;
  expect(readCode(code)?.expiresAt).toBe(until);
  expect(codesFor(KEY, RUN, asked, DAY)?.expiresAt).toBe(until);
  const later = `${code.slice(0, 4)}Z${code.slice(5)}`;
  expect(readCode(later)?.expiresAt).toBeGreaterThan(until);
  expect(stands(later, question)).toBeUndefined();
});

test('a code ends with the deadline of its question, and there is none without a lifetime', () => {
  const deadline = Math.ceil(AT / 60_000) * 60_000 + 120_000;
  expect(codesFor(KEY, RUN, { ...asked, deadline }, DAY)?.expiresAt).toBe(deadline);
  expect(codesFor(KEY, RUN, asked, 0)).toBeUndefined();
  expect(codesFor(KEY, RUN, { type: 'agent-woke', at: AT, agent: 'main' }, DAY)).toBeUndefined();
});
