import fc from 'fast-check';
import { expect, test } from 'vitest';
import { failed, makeRun, state } from '../../test/make-run.ts';
import { play } from '../testing.ts';
import { readFilling } from './fill-prompt.ts';

const TEXT = '---\nfill: haiku\n---\nWrite {{style}} about {{topic}}, {{input}} and {{style}}.';

test('a model fills the placeholders without a value once, in a session of its own', async () => {
  const played = await play(
    { START: { text: TEXT, answers: ['{"style": "a haiku"}', '<result>x</result>'] } },
    { input: 'rain', metadata: { topic: 'the {{sea}}' } },
  );
  const [asked, worked] = played.steps;
  expect(asked?.prompt).toContain('Write {{style}} about {{topic}}, {{input}} and {{style}}.');
  expect(asked?.prompt).toContain('"topic": "the {{sea}}"');
  expect(asked?.prompt).toContain('"input": "rain"');
  expect(asked?.prompt).toMatch(/\{"style":"…"\}$/);
  expect(asked?.model).toBe('haiku');
  expect(worked?.prompt).toBe('Write a haiku about the {{sea}}, rain and a haiku.');
  expect(worked?.model).toBeUndefined();
  expect(worked?.session).toEqual({ use: 'fresh', id: 's2' });
  expect(played.events.find(({ type }) => type === 'prompt-filled')).toMatchObject({
    agent: 'main',
    values: { style: 'a haiku' },
  });
  expect(played.run.iterations).toBe(1);
});

test('nothing is asked if every placeholder has a value, or without the key', async () => {
  const filled = await play(
    { START: { text: TEXT, answers: ['<result>x</result>'] } },
    { metadata: { style: 'a poem', topic: 'trees' } },
  );
  expect(filled.steps).toHaveLength(1);
  const plain = await play({ START: { text: '{{style}}', answers: ['<result>x</result>'] } });
  expect(plain.steps[0]?.prompt).toBe('{{style}}');
});

test('each entry is filled again, and retries and reminders of a state keep its values', () => {
  const front = 'fill: haiku\nallowed_transitions: [{tag: goto, target: START}, {tag: result}]';
  const stage = makeRun({ START: state(front, '{{a}}') });
  stage.turn('{"a": "1"}');
  stage.turn(failed('overloaded'));
  stage.handle({ kind: 'time-came', at: stage.now + 1e9, agent: 'main' });
  expect(stage.start()).toMatchObject([{ task: 'state' }]);
  stage.end('no tag');
  expect(stage.start()).toMatchObject([{ task: 'reminder' }]);
  expect(stage.agent().filled).toEqual({ a: '1' });
  stage.end('<goto>START</goto>');
  expect(stage.start()).toMatchObject([{ task: 'fill', session: { use: 'fresh' } }]);
});

test('an answer that cannot be used is sent back in its session, three times', () => {
  const stage = makeRun({ START: state('fill: haiku', '{{a}} {{b}}') });
  stage.turn('I cannot.');
  expect(stage.agent().status).toMatchObject({
    task: { kind: 'fill', reminder: { number: 1, session: 's1' } },
  });
  expect(stage.start()).toMatchObject([{ task: 'fill', session: { use: 'continue', id: 's1' } }]);
  stage.end('{"a": "1"}');
  expect(stage.agent().status).toMatchObject({
    task: { reminder: { text: expect.stringContaining('it has no b') } },
  });
  stage.turn('{}');
  expect(stage.turn('[]').at(-1)).toMatchObject({ type: 'agent-failed' });
  stage.resume();
  expect(stage.start()).toMatchObject([{ task: 'fill', session: { use: 'fresh' } }]);
});

test('a failed question is retried, costs count, and the budget ends it', () => {
  const stage = makeRun({ START: state('fill: haiku', '{{a}}') }, { settings: { budgetUsd: 1 } });
  stage.turn(failed('overloaded', 0.25));
  expect(stage.agent().status).toMatchObject({ kind: 'waiting', task: { kind: 'fill' } });
  stage.handle({ kind: 'time-came', at: stage.now + 1e9, agent: 'main' });
  stage.turn('{"a": "1"}', 'main', 0.75);
  expect(stage.run.totalCostUsd).toBe(1);
  expect(stage.start()).toMatchObject([{ type: 'stop-requested', why: 'budget' }]);
});

test.each([
  ['a fenced object', '```json\n{"a": "x"}\n```', { a: 'x' }],
  ['another type', '{"a": {"b": [1]}}', { a: '{"b":[1]}' }],
  ['further keys', 'Sure: {"a": "x", "__proto__": "y", "c": 1}', { a: 'x' }],
])('reads %s', (_, answer, values) => {
  expect(readFilling(answer, ['a'])).toEqual({ values });
});

test('no answer of a model breaks it', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (answer) => {
      const read = readFilling(answer, ['a', 'constructor']);
      if ('values' in read) expect(Object.keys(read.values)).toEqual(['a', 'constructor']);
    }),
  );
});
