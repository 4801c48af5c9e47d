import fc from 'fast-check';
import { expect, test } from 'vitest';
import { failed, interrupted, makeRun, type Stage } from '../../test/make-run.ts';
import { freeze } from '../journal/freeze-run.ts';
import { thaw } from '../journal/thaw-run.ts';
import { wordsBefore } from './words.ts';

const FLOW = { START: [], N: [], 'S.sh': [] };

const says = (stage: Stage, words: string, agent = 'main') =>
  stage.handle({
    kind: 'person-said',
    at: stage.now,
    agent,
    words,
    text: `text of ${words}`,
    by: 'eva',
  });

const hears = (stage: Stage, words: string, step = stage.agent().steps) =>
  stage.handle({ kind: 'words-heard', at: stage.now, agent: 'main', step, words });

/** The words in front of the prompt that runs. */
const before = (stage: Stage) =>
  wordsBefore(stage.agent(), stage.agent().steps).map(({ id }) => id);

test('words stand in front of the next prompt, and of no later one', () => {
  const stage = makeRun(FLOW);
  expect(says(stage, 'a')).toMatchObject([{ type: 'words-said', words: 'a', by: 'eva' }]);
  expect(stage.start()).toMatchObject([{ type: 'step-started', words: ['a'] }]);
  expect(before(stage)).toEqual(['a']);
  stage.end('<goto>N</goto>');
  expect(stage.agent().words).toEqual([]);
  const [started] = stage.start();
  expect(started).not.toHaveProperty('words');
});

test('a message that comes twice counts once, even after the words have been given', () => {
  const stage = makeRun(FLOW);
  says(stage, 'a');
  expect(says(stage, 'a')).toEqual([]);
  stage.turn('<goto>N</goto>');
  expect(says(stage, 'a')).toEqual([]);
});

test('an agent that is over gets no words', () => {
  const stage = makeRun(FLOW);
  stage.turn('<result>done</result>');
  expect(says(stage, 'a')).toEqual([]);
  expect(says(stage, 'a', 'nobody')).toEqual([]);
});

test('a script does not take the words of the next prompt', () => {
  const stage = makeRun(FLOW);
  stage.turn('<goto>S</goto>');
  says(stage, 'a');
  const [script] = stage.start();
  expect(script).toMatchObject({ state: 'S.sh' });
  expect(script).not.toHaveProperty('words');
  stage.end('<goto>N</goto>');
  expect(stage.start()).toMatchObject([{ words: ['a'] }]);
});

test('words that were heard are not repeated, unless their turn is', () => {
  const stage = makeRun(FLOW);
  stage.start();
  says(stage, 'a');
  expect(hears(stage, 'a', 7)).toEqual([]);
  expect(hears(stage, 'a')).toMatchObject([{ type: 'words-heard', step: 1, words: 'a' }]);
  expect(hears(stage, 'a')).toEqual([]);
  stage.end(interrupted(false));
  expect(stage.start()).toMatchObject([{ words: ['a'] }]);
  // An agent that keeps the prompt of an earlier attempt has them already.
  expect(wordsBefore(stage.agent(), 2, true)).toEqual([]);
});

test('words survive a snapshot of the run', () => {
  const stage = makeRun(FLOW);
  says(stage, 'a');
  stage.start();
  says(stage, 'b');
  expect(thaw(JSON.parse(JSON.stringify(freeze(stage.run))))).toEqual(stage.run);
});

test('whatever breaks off, the history of the model has each word once', () => {
  const act = fc.constantFrom('say', 'hear', 'start', 'end', 'restart', 'continue', 'fail', 'thaw');
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const stage = makeRun(FLOW, { settings: { retryPausesMs: [0, 0, 0, 0, 0, 0, 0, 0, 0] } });
      let history: readonly string[] = [];
      let atStart = history;
      let said = 0;
      const begin = () => {
        const { status } = stage.agent();
        if (status.kind === 'waiting')
          stage.handle({ kind: 'time-came', at: status.until, agent: 'main' });
        if (stage.agent().status.kind === 'failed') stage.resume();
        if (stage.agent().status.kind !== 'ready' || stage.start().length === 0) return;
        atStart = history;
        history = [...history, ...before(stage)];
      };
      for (const one of acts) {
        const isRunning = stage.agent().status.kind === 'running';
        if (one === 'say') says(stage, `w${++said}`);
        if (one === 'start') begin();
        if (one === 'thaw')
          stage.run = thaw(JSON.parse(JSON.stringify(freeze(stage.run)))) ?? stage.run;
        if (one === 'hear' && isRunning && hears(stage, `w${said}`).length > 0)
          history = [...history, `w${said}`];
        if (!isRunning) continue;
        if (one === 'end') stage.end('<goto>N</goto>');
        if (one === 'continue') stage.end(interrupted(true));
        if (one === 'restart') stage.end(interrupted(false));
        if (one === 'fail') stage.end(failed('overloaded'));
        if (one === 'restart' || one === 'fail') history = atStart;
        expect(new Set(history).size).toBe(history.length);
      }
      if (stage.agent().status.kind === 'running') stage.end('<goto>N</goto>');
      begin();
      const all = Array.from({ length: said }, (_, index) => `w${index + 1}`);
      if (stage.agent().status.kind === 'running') expect([...history].sort()).toEqual(all.sort());
    }),
  );
});
