import { expect, test } from 'vitest';
import { makeRun } from '../../test/make-run.ts';
import { rewindStage } from '../../test/rewound-run.ts';
import { newRun } from '../interpret/new-run.ts';
import { play, type Script, scriptedWorkflow } from '../testing.ts';
import { graphOf } from './graph.ts';
import { fittedTo, overlayOf, timesTaken, useOf, withTaken } from './overlay.ts';

async function played(script: Script, options: Parameters<typeof play>[1] = {}) {
  const own = graphOf(scriptedWorkflow(script));
  const overlay = fittedTo(own, overlayOf((await play(script, options)).events));
  const graph = withTaken(own, overlay);
  const taken = graph.edges.map((edge) => {
    const [from, to] = [edge.from, edge.to].map((id) => id.replace(/^state:|\.md$/g, ''));
    return `${from} ${edge.role} ${to} ${timesTaken(overlay, edge)}`;
  });
  return { overlay, taken: [...new Set(taken)].sort() };
}

test('a call, its return and the transitions that were not taken', async () => {
  const { taken, overlay } = await played({
    START: {
      text: '<call return="B">A</call> <goto>B</goto>',
      answers: [{ text: '<call return="B">A</call>', costUsd: 0.5 }],
    },
    A: {
      text: '<goto>A</goto> <result>x</result>',
      answers: ['<goto>A</goto>', '<goto>A</goto>', '<result>x</result>'],
    },
    B: { text: '<result>x</result>', answers: [{ text: '<result>x</result>', costUsd: 0.25 }] },
  });
  expect(taken).toEqual([
    'A go A 2',
    'A result end 1',
    'B result end 1',
    'START call A 1',
    'START go B 0',
    'START return B 1',
  ]);
  expect(useOf(overlay, 'state:A.md')).toMatchObject({ visits: 3, costUsd: 0 });
  expect(useOf(overlay, 'state:START.md')).toMatchObject({ visits: 1, costUsd: 0.5 });
  expect(useOf(overlay, 'state:START.md')?.timeMs).toBeGreaterThan(0);
});

test('children, their parent, a question and another workflow', async () => {
  const tags = {
    START: '<fork next="Q">W</fork>',
    Q: '<ask next="R">Well?</ask>',
    R: '<call-workflow return="Z">../other</call-workflow>',
  };
  const { taken, overlay } = await played(
    {
      START: { text: tags.START, answers: ['<fork next="Q">W</fork><fork>W</fork>'] },
      W: { text: '<result>w</result>', answers: () => '<result>w</result>' },
      Q: { text: tags.Q, answers: [tags.Q] },
      R: { text: tags.R, answers: [tags.R] },
      Z: { text: '<result>z</result>', answers: ['<result>z</result>'] },
    },
    {
      answers: ['yes'],
      workflows: { '../other': { '1_START': ['<goto>X</goto>'], X: ['<result>o</result>'] } },
    },
  );
  expect(taken).toEqual([
    'Q answer R 1',
    'R call workflow:../other 1',
    'R return Z 1',
    'START next Q 1',
    'START worker W 2',
    'W result end 2',
    'Z result end 1',
  ]);
  expect(useOf(overlay, 'workflow:../other')).toMatchObject({ visits: 2 });
});

test('a target that occurs only in the run is added', async () => {
  const { taken } = await played({
    'START.sh': { text: 'echo "<goto>$x</goto>"', answers: ['<goto>A</goto>'] },
    A: { text: '<result>x</result>', answers: ['<result>x</result>'] },
  });
  expect(taken).toEqual(['A result end 1', 'START.sh go A 1', 'START.sh go unknown 0']);
});

test.each([
  ['a goto beside forks', '<fork>A</fork> <goto>B</goto>', ['START go B 1', 'START worker A 1']],
  ['the next of a fork', '<fork next="B">A</fork>', ['START next B 1', 'START worker A 1']],
  [
    'a goto that a fork did not need',
    '<fork next="B">A</fork> or <goto>B</goto>',
    ['START go B 0', 'START next B 1', 'START worker A 1'],
  ],
])('%s is counted as it was written', async (_, text, expected) => {
  const answer = text.split(' or ')[0] ?? '';
  const end = '<result>x</result>';
  const { taken } = await played({
    START: { text, answers: [answer] },
    A: { text: end, answers: [end] },
    B: { text: end, answers: [end] },
  });
  expect(taken.filter((edge) => edge.startsWith('START'))).toEqual(expected);
});

test('the ways back from callees and children are counted', async () => {
  const { overlay } = await played({
    START: {
      text: '<fork>W</fork> <join>CALL</join>',
      answers: ['<fork>W</fork><fork>W</fork><join>CALL</join>'],
    },
    W: { text: '<result>w</result>', answers: () => '<result>w</result>' },
    CALL: {
      text: '<call return="END">C</call>',
      answers: ['<call return="END">C</call>'],
    },
    C: { text: '<goto>D</goto>', answers: ['<goto>D</goto>'] },
    D: { text: '<result>d</result>', answers: ['<result>d</result>'] },
    END: { text: '<result>x</result>', answers: ['<result>x</result>'] },
  });
  const times = (state: string, to: string) =>
    timesTaken(overlay, { resultOf: `state:${state}.md`, to: `state:${to}.md` });
  expect(times('W', 'CALL')).toBe(2);
  expect(times('D', 'END')).toBe(1);
  expect(times('C', 'END')).toBe(0);
  const returned = { caller: 'state:CALL.md', callee: 'state:C.md', to: 'state:END.md' };
  expect(timesTaken(overlay, returned)).toBe(1);
});

test('the time without a process does not count', async () => {
  const { events } = await play({ START: ['<result>x</result>'] });
  const started = events.findIndex(({ type }) => type === 'step-started');
  const at = events[started]?.at ?? 0;
  const night = 36_000_000;
  const resumed = { type: 'run-resumed', at: at + night, settings: newRun.settings } as const;
  const rest = events.slice(started + 1).map((event) => ({ ...event, at: at + night + 70 }));
  const overlay = overlayOf([...events.slice(0, started + 1), resumed, ...rest]);
  expect(useOf(overlay, 'state:START.md')?.timeMs).toBe(70);
});

test('a run is followed from the state to which a rewind has put its agent back', () => {
  const stage = makeRun({ START: [], WORK: [], NEXT: [] });
  stage.turn('<goto>WORK</goto>');
  stage.turn('<goto>NEXT</goto>');
  stage.turn('<result>x</result>');
  stage.idle();
  rewindStage(stage, { kind: 'to', agent: 'main', step: 2 });
  stage.resume();
  stage.turn('<goto>WORK</goto>');
  const taken = [...overlayOf(stage.events).edges.values()].map(
    ({ from, to, count }) => `${from} ${to} ${count}`,
  );
  expect(taken.sort()).toEqual([
    'state:NEXT.md end 1',
    'state:START.md state:WORK.md 1',
    'state:WORK.md state:NEXT.md 1',
    'state:WORK.md state:WORK.md 1',
  ]);
});
