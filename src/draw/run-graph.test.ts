import { expect, test } from 'vitest';
import { graphOf } from '../graph/graph.ts';
import { overlayOf } from '../graph/overlay.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import { play, type Script, scriptedWorkflow } from '../testing.ts';
import { placedGraph, type RunGraph, runGraph, runGraphSchema } from './run-graph.ts';

type Options = Parameters<typeof play>[1];

/** The graph after the events up to the first one that `isLast` accepts. */
async function graphAt(script: Script, isLast?: (event: RunEvent) => boolean, options?: Options) {
  const { events } = await play(script, options);
  const end = isLast ? events.findIndex(isLast) + 1 : events.length;
  expect(end).toBeGreaterThan(0);
  const seen = events.slice(0, end);
  const overlay = overlayOf(seen);
  const data = runGraph(
    placedGraph(graphOf(scriptedWorkflow(script)), overlay),
    overlay,
    seen.reduce(apply, newRun),
  );
  expect(runGraphSchema.parse(JSON.parse(JSON.stringify(data)))).toEqual(data);
  return data;
}

const node = ({ nodes }: RunGraph, label: string) =>
  nodes.find((one) => one.label === label && one.kind !== 'reference');
const ways = ({ edges }: RunGraph) =>
  edges.map(({ from, to, role, taken }) => `${from} ${role} ${to} ${taken}`).sort();

const REVIEW: Script = {
  START: {
    text: '<fork next="WAIT">W</fork>',
    answers: [{ text: '<fork next="WAIT">W</fork><fork>W</fork>', costUsd: 0.5 }],
  },
  W: { text: '<result>w</result>', answers: () => '<result>w</result>' },
  WAIT: { text: '<join>END</join>', answers: ['<join>END</join>'] },
  END: { text: '<result>x</result>', answers: ['<result>x</result>'] },
};

test('a finished run has visits, time, cost and ways, and no agents', async () => {
  const data = await graphAt(REVIEW);
  expect(node(data, 'START')).toMatchObject({ visits: 1, cost_usd: 0.5, agents: [] });
  expect(node(data, 'START')?.time_ms).toBeGreaterThan(0);
  expect(node(data, 'W')).toMatchObject({ visits: 2, state: 'W.md', kind: 'prompt' });
  expect(node(data, 'END')).toMatchObject({ results: 1 });
  expect(ways(data)).toContain('state:START.md worker state:W.md 2');
  expect(ways(data)).toContain('state:W.md join state:END.md 2');
  expect(data.elsewhere).toEqual([]);
});

test('agents are at the states in which they are now', async () => {
  const isStart = (event: RunEvent) => event.type === 'step-started' && event.state === 'W.md';
  const data = await graphAt(REVIEW, isStart);
  const at = data.nodes.flatMap(({ label, agents }) =>
    agents.map(({ id, status }) => `${label} ${id} ${status}`),
  );
  expect(at.sort()).toEqual(['W main_w1 running', 'W main_w2 ready', 'WAIT main running']);
});

test('an agent in a workflow that another workflow called is at the node of the first one', async () => {
  const call = '<call-workflow return="Z">../other</call-workflow>';
  const data = await graphAt(
    {
      START: { text: call, answers: [call] },
      Z: { text: '<result>z</result>', answers: ['<result>z</result>'] },
    },
    (event) => event.type === 'step-started' && event.state === 'DEEP.md',
    {
      workflows: {
        '../other': {
          '1_START': ['<call-workflow return="X">../third</call-workflow>'],
          X: ['<result>o</result>'],
        },
        '../third': { '1_START': ['<goto>DEEP</goto>'], DEEP: ['<result>d</result>'] },
      },
    },
  );
  expect(data.nodes.find(({ kind }) => kind === 'workflow')?.agents).toEqual([
    { id: 'main', status: 'running' },
  ]);
});

test('nothing moves while the numbers of a run grow, except for a way that the text does not have', async () => {
  const early = await graphAt(REVIEW, (event) => event.type === 'step-started');
  const late = await graphAt(REVIEW);
  const places = ({ nodes, edges }: RunGraph) => [
    nodes.map(({ id, x, y, width, height }) => ({ id, x, y, width, height })),
    edges.map(({ points, label_at }) => ({ points, label_at })),
  ];
  expect(places(late)).toEqual(places(early));
  const open: Script = {
    'START.sh': { text: 'echo "<goto>$x</goto>"', answers: ['<goto>A</goto>'] },
    A: { text: '<result>x</result>', answers: ['<result>x</result>'] },
  };
  expect(ways(await graphAt(open))).toContain('state:START.sh go state:A.md 1');
});

test('a graph is placed again only if a way was added', async () => {
  const own = graphOf(scriptedWorkflow(REVIEW));
  const { events } = await play(REVIEW);
  const first = placedGraph(own, overlayOf(events.slice(0, 3)));
  expect(placedGraph(own, overlayOf(events), first)).toBe(first);
});

test('a state that several states call has its agents once, and references beside its callers', async () => {
  const call = (back: string) => `<call return="${back}">TALK</call>`;
  const data = await graphAt(
    {
      START: { text: call('B'), answers: [call('B')] },
      B: { text: call('C'), answers: [call('C')] },
      C: { text: '<result>x</result>', answers: ['<result>x</result>'] },
      TALK: { text: '<result>t</result>', answers: () => '<result>t</result>' },
    },
    (event) => event.type === 'step-started' && event.state === 'TALK.md',
  );
  const shown = data.nodes.filter(({ shows }) => shows === 'state:TALK.md');
  expect(
    shown.map(({ kind, visits, agents }) => `${kind} ${visits} ${agents.length}`).sort(),
  ).toEqual(['prompt 1 1', 'reference 1 0', 'reference 1 0']);
});

test('hidden characters of a name are shown', async () => {
  const data = await graphAt({
    START: { text: '<result>x</result>', answers: ['<result>x</result>'] },
    'A\u202eB': { text: '<result>x</result>', answers: [] },
  });
  expect(data.nodes.map(({ name }) => name)).toContain('A\\u{202e}B');
});
