/** Files of questions and answers in the language. */
import { expect, test } from 'vitest';
import { answered, makeRun, type Stage, state, types } from '../../test/make-run.ts';
import { rewindStage } from '../../test/rewound-run.ts';
import { freeze } from '../journal/freeze-run.ts';
import { thaw } from '../journal/thaw-run.ts';
import type { FilesFact, Located } from '../model/input.ts';
import type { KeptFile } from '../model/kept-file.ts';
import { renderPrompt, scriptVariables } from './render.ts';

const file = (name: string): KeptFile => ({ name, bytes: 3, sha256: 'a'.repeat(64) });
const FOUND: Located<FilesFact> = { found: true, files: [file('r.md')] };

const ASKS = state('allowed_transitions: [{ tag: ask, next: NEXT }]');
const PINNED = state('allowed_transitions: [{ tag: ask, next: NEXT, files: r.md }]');
const ACCEPTS = state('allowed_transitions: [{ tag: ask, next: NEXT, accept: pdf }]');
const FLOW = {
  START: ASKS,
  NEXT: { text: 'Do it.', answers: [] },
  PLACED: { text: 'Read {{answer_files}}.', answers: [] },
  'S.sh': [],
};

/** Ends a step with a question, where its files are as they are found. */
function ask(stage: Stage, tag: string, found: Located<FilesFact> | 'none' = FOUND, id = 'main') {
  if (stage.agent(id).status.kind !== 'running') stage.start(id);
  const report = answered(stage, stage.agent(id), tag, 0);
  if (report.kind !== 'answered') throw new Error('no answer');
  const files = new Map(found === 'none' ? [] : [['r.md', found]]);
  return stage.end({ ...report, facts: { ...report.facts, files } }, id);
}

function answer(stage: Stage, ...names: readonly string[]) {
  const { status } = stage.agent();
  const askedAt = status.kind === 'asking' ? status.askedAt : 0;
  const files = names.map(file);
  const given = { at: stage.now, agent: 'main', askedAt, text: 'yes', files };
  return stage.handle({ kind: 'person-answered', ...given });
}

const prompt = (stage: Stage) => {
  const agent = stage.agent();
  const workflow = stage.workflows('/flow');
  const own = workflow?.states.get(agent.state);
  if (!workflow || own?.kind !== 'prompt') throw new Error('no prompt');
  return renderPrompt(own, { workflow, run: stage.run, agent, taskFolder: () => '/task' });
};

const QUESTION = '<ask next="NEXT" files="r.md">?</ask>';

test('a question has the files that were found, and the agent that asks keeps them', () => {
  const stage = makeRun(FLOW);
  expect(ask(stage, QUESTION)).toMatchObject([
    { type: 'step-ended' },
    { type: 'agent-asked', files: [file('r.md')] },
  ]);
  expect(stage.agent().status).toMatchObject({ kind: 'asking', files: [file('r.md')] });
  expect(thaw(JSON.parse(JSON.stringify(freeze(stage.run))))).toEqual(stage.run);
});

test('a bad file is a reminder under a policy, and a failure elsewhere', () => {
  const bad = { found: false, problem: 'there is no such file' } as const;
  const stage = makeRun(FLOW);
  expect(ask(stage, QUESTION, bad)).toMatchObject([
    { type: 'step-ended' },
    { type: 'agent-reminded', text: expect.stringContaining('there is no such file') },
  ]);
  const script = makeRun({ 'START.sh': [], NEXT: [] });
  expect(types(ask(script, QUESTION, bad))).toEqual(['step-ended', 'agent-failed']);
});

test('where no files are kept, a question has none', () => {
  const stage = makeRun(FLOW);
  expect(ask(stage, QUESTION, 'none').at(-1)).not.toHaveProperty('files');
});

test.each([
  [ASKS, '<ask next="NEXT">?</ask>', 'agent-asked'],
  [ASKS, QUESTION, 'agent-asked'],
  [PINNED, QUESTION, 'agent-asked'],
  [PINNED, '<ask next="NEXT" files="other.md">?</ask>', 'agent-reminded'],
  [PINNED, '<ask next="NEXT">?</ask>', 'agent-reminded'],
  [ASKS, '<ask next="NEXT" accept="exe">?</ask>', 'agent-reminded'],
  [ACCEPTS, '<ask next="NEXT" accept="pdf">?</ask>', 'agent-asked'],
  [ACCEPTS, '<ask next="NEXT">?</ask>', 'agent-reminded'],
])(
  'an entry pins the files that it names, and leaves others free: case %#',
  (start, tag, event) => {
    const stage = makeRun({ ...FLOW, START: start });
    expect(types(ask(stage, tag)).at(-1)).toBe(event);
  },
);

test('the files of an answer get safe names, and their paths stand in front of the prompt', () => {
  const stage = makeRun(FLOW);
  ask(stage, QUESTION);
  expect(answer(stage, '../../a b.md', 'A B.md', '\u202e.x')).toMatchObject([
    { type: 'agent-answered', files: [file('a b.md'), file('A B-2.md'), file('x')] },
  ]);
  expect(thaw(JSON.parse(JSON.stringify(freeze(stage.run))))).toEqual(stage.run);
  stage.start();
  const paths = [
    '/task/answer_files/a b.md',
    '/task/answer_files/A B-2.md',
    '/task/answer_files/x',
  ];
  expect(prompt(stage)).toBe(`These files came with the answer:\n${paths.join('\n')}\n\nDo it.`);
  stage.end('<goto>S.sh</goto>');
  // The state has consumed them.
  stage.start();
  const workflow = stage.workflows('/flow');
  if (!workflow) throw new Error('no workflow');
  const from = { workflow, run: stage.run, agent: stage.agent(), taskFolder: () => '/task' };
  expect(scriptVariables(from)).toMatchObject({ RAYMOND_ANSWER_FILES: '' });
});

test('a placeholder gets the paths instead', () => {
  const stage = makeRun(FLOW);
  ask(stage, QUESTION);
  answer(stage, 'a.md');
  stage.start();
  stage.end('<goto>PLACED</goto>');
  expect(prompt(stage)).toBe('Read .');
  const placed = makeRun({
    ...FLOW,
    START: state('allowed_transitions: [{ tag: ask, next: PLACED }]'),
  });
  ask(placed, '<ask next="PLACED">?</ask>');
  answer(placed, 'a.md');
  placed.start();
  expect(prompt(placed)).toBe('Read /task/answer_files/a.md.');
});

test('a rewind opens a question with its files again, and the receiver has those of the answer', () => {
  const stage = makeRun({ ...FLOW, START: { text: 'x', answers: [] }, W: [] });
  stage.turn('<fork next="PLACED">W</fork>');
  ask(stage, QUESTION);
  stage.turn('<goto>W</goto>', 'main_w1');
  answer(stage, 'a.md');
  rewindStage(stage, { kind: 'to', agent: 'main_w1', step: 1 });
  expect(stage.agent().status).toMatchObject({ kind: 'asking', files: [file('r.md')] });
  stage.resume();
  answer(stage, 'b.md');
  stage.turn('<goto>PLACED</goto>');
  rewindStage(stage, { kind: 'to', agent: 'main', step: 3 });
  expect(stage.agent().answerFiles).toEqual([file('b.md')]);
});
