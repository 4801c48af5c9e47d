import { expect, test } from 'vitest';
import {
  answered,
  failed,
  interrupted,
  makeRun,
  type Stage,
  state,
  types,
} from '../../test/make-run.ts';
import { renderPrompt } from './render.ts';

const others = { N: state('', 'Next.'), X: state('', 'Other.'), J: state('', 'Judge {{output}}') };
const always = 'ensures: [{ run: npm test, say: The tests must pass. }]';

/** The report of a check that exited with a code. */
function exited(stage: Stage, exit: number, text = '') {
  const report = answered(stage, stage.agent(), '');
  return report.kind === 'answered' ? { ...report, text, exit } : report;
}

function check(stage: Stage, exit: number, text?: string) {
  stage.start();
  return stage.end(exited(stage, exit, text));
}

test('a check runs as a separate step without a session, and then the transition is taken', () => {
  const stage = makeRun({ START: state(always), ...others });
  expect(stage.turn('<goto>N</goto>')).toMatchObject([
    { type: 'step-ended' },
    { type: 'check-called', ensure: 0, run: 'npm test', tags: [{ body: 'N' }] },
  ]);
  const [started] = stage.start();
  expect(started).toMatchObject({
    type: 'step-started',
    step: 2,
    task: 'check',
    state: 'START.md',
  });
  expect(started).not.toHaveProperty('session');
  expect(stage.end(exited(stage, 0))).toMatchObject([
    { type: 'step-ended', step: 2, exit: 0 },
    { type: 'agent-moved', state: 'N.md', session: { kind: 'open', id: 's1' } },
  ]);
});

test('a failed check reminds the agent in the same session, with the output and the words of the author', () => {
  const stage = makeRun({ START: state(always), ...others });
  stage.turn('<goto>N</goto>');
  expect(check(stage, 1, '2 tests failed')).toMatchObject([
    { type: 'step-ended', exit: 1 },
    { type: 'agent-reminded', number: 1, ensure: 0, failure: { kind: 'unmet-check' } },
  ]);
  expect(stage.start()).toMatchObject([
    { task: 'reminder', session: { use: 'continue', id: 's1' } },
  ]);
  const workflow = stage.workflows('/flow');
  const start = workflow?.states.get(stage.agent().state);
  if (!workflow || start?.kind !== 'prompt') throw new Error('START is a prompt');
  const prompt = renderPrompt(start, {
    workflow,
    run: stage.run,
    agent: stage.agent(),
    taskFolder: () => '',
  });
  expect(
    prompt,
  ).toBe(`Your <goto> was not followed, because a check failed. \`npm test\` exited with 1.

The tests must pass.

The end of its output:

2 tests failed

Repair the cause. Then end your message with your transition tag again.`);
  stage.end('<goto>N</goto>');
  check(stage, 0);
  expect(stage.agent().state).toBe('N.md');
});

test('after three reminders the agent fails, and a resume executes the check again', () => {
  const stage = makeRun({ START: state(always), ...others });
  stage.turn('<goto>N</goto>');
  for (const number of [1, 2, 3]) {
    expect(check(stage, 1).at(-1)).toMatchObject({ type: 'agent-reminded', number });
    stage.turn('<goto>N</goto>');
  }
  expect(check(stage, 1).at(-1)).toMatchObject({
    type: 'agent-failed',
    failure: { kind: 'unmet-check', message: '`npm test` exited with 1.' },
  });
  stage.resume();
  expect(stage.start()).toMatchObject([{ task: 'check' }]);
  expect(stage.end(exited(stage, 1)).at(-1)).toMatchObject({ type: 'agent-reminded', number: 1 });
});

test.each([
  ['tries: 0', 0],
  ['tries: 1', 1],
])('with %s the way out is taken after %i reminders', (tries, reminders) => {
  const way = `ensures: [{ run: make, ${tries}, else: { tag: goto, target: X } }]`;
  const stage = makeRun({ START: state(way), ...others });
  stage.turn('<goto>N</goto>');
  for (let n = 0; n < reminders; n++) {
    check(stage, 2);
    stage.turn('<goto>N</goto>');
  }
  expect(check(stage, 2).slice(1)).toMatchObject([
    { type: 'transition-overridden', by: 'ensures', evaluator: 0, taken: { body: 'X' } },
    { type: 'agent-moved', state: 'X.md' },
  ]);
});

test.each([
  ['<goto>N</goto>', ['goto N.md'], true],
  ['<goto>X</goto>', ['goto N'], false],
  ['<result>done</result>', ['goto N', 'result'], true],
  ['<fork next="N">X</fork>', ['fork X'], true],
  ['<fork next="N">X</fork>', ['goto'], false],
])('%s with on: %j is checked: %s', (answer, on, isChecked) => {
  const stage = makeRun({
    START: state(`ensures: [{ run: make, on: ${JSON.stringify(on)} }]`),
    ...others,
  });
  expect(types(stage.turn(answer)).includes('check-called')).toBe(isChecked);
});

test('several checks run in order, and each counts its own reminders', () => {
  const stage = makeRun({
    START: state('ensures: [{ run: a, tries: 1 }, { run: b, tries: 1 }]'),
    ...others,
  });
  stage.turn('<goto>N</goto>');
  check(stage, 1);
  stage.turn('<goto>N</goto>');
  expect(check(stage, 0).at(-1)).toMatchObject({ type: 'check-called', ensure: 1, run: 'b' });
  expect(check(stage, 1).at(-1)).toMatchObject({ type: 'agent-reminded', ensure: 1, number: 1 });
  stage.turn('<goto>N</goto>');
  expect(check(stage, 1).at(-1)).toMatchObject({ type: 'agent-failed' });
});

test('reminders about checks do not use up those about tags, and neither is lost', () => {
  const stage = makeRun({
    START: state(
      'allowed_transitions: [{ tag: goto, target: N }, { tag: result }]\nensures: [{ run: a, tries: 5 }]',
    ),
    ...others,
  });
  stage.turn('What?');
  stage.turn('What?');
  stage.turn('<goto>N</goto>');
  expect(check(stage, 1).at(-1)).toMatchObject({ type: 'agent-reminded', ensure: 0, number: 1 });
  expect(stage.turn('What?').at(-1)).toMatchObject({ type: 'agent-reminded', number: 3 });
  stage.turn('<goto>N</goto>');
  expect(check(stage, 1).at(-1)).toMatchObject({ type: 'agent-reminded', ensure: 0, number: 2 });
  expect(stage.turn('What?').at(-1)).toMatchObject({ type: 'agent-failed' });
});

test('a judge between two reminders does not start the count again', () => {
  const judge = 'evaluators: [{ prompt: J, expect: "YES", then: { tag: goto, target: X } }]';
  const stage = makeRun({ START: state(`${judge}\nensures: [{ run: a, tries: 1 }]`), ...others });
  const judged = () => {
    stage.turn('<goto>N</goto>');
    return stage.turn('<result>YES</result>').at(-1);
  };
  expect(judged()).toMatchObject({ type: 'check-called' });
  check(stage, 1);
  expect(judged()).toMatchObject({ type: 'check-called' });
  expect(check(stage, 1).at(-1)).toMatchObject({ type: 'agent-failed' });
});

test('the override of an evaluator is not checked', () => {
  const policy =
    'evaluators: [{ visits: 1, then: { tag: goto, target: X } }]\nensures: [{ run: a }]';
  const stage = makeRun({ START: state(policy), ...others });
  stage.turn('<goto>N</goto>');
  expect(stage.agent().state).toBe('X.md');
});

test('an interrupted check is repeated, and a lost one too, but only once', () => {
  const stage = makeRun({ START: state(always), ...others });
  stage.turn('<goto>N</goto>');
  stage.turn(interrupted(false));
  expect(stage.start()).toMatchObject([{ task: 'check', attempt: 2 }]);
  expect(stage.end(failed('lost')).at(-1)).toMatchObject({ type: 'agent-waits' });
  stage.handle({ kind: 'time-came', at: stage.now + 1e6, agent: 'main' });
  expect(stage.turn(failed('lost')).at(-1)).toMatchObject({ type: 'agent-failed' });
});
