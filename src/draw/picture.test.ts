import { expect, test } from 'vitest';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import { graphOf } from '../graph/graph.ts';
import { type PictureNode, pictureOf } from './picture.ts';

/** The lines of a picture, and the nodes with the mark of a result. */
function drawn(files: Readonly<Record<string, string>>): readonly string[] {
  const { nodes, edges } = pictureOf(graphOf(workflowOf(files)));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const nameOf = (node: PictureNode | undefined) =>
    node?.kind === 'reference' ? `[${node.shows.label}]` : (node?.shows.label ?? '');
  return [
    ...edges.map(
      ({ from, to, role, label }) =>
        `${nameOf(byId.get(from))} ${role} ${nameOf(byId.get(to))} (${label})`,
    ),
    ...nodes.flatMap((node) => (node.result ? [`${nameOf(node)} ends`] : [])),
  ].sort();
}

const RESULT = '<result>x</result>';

test.each<[string, Record<string, string>, readonly string[]]>([
  [
    'the results of a callee lead to where its caller continues',
    {
      START: '<call return="BACK">CALLEE</call>',
      CALLEE: `<goto>MORE</goto> ${RESULT}`,
      MORE: RESULT,
      BACK: RESULT,
    },
    [
      'BACK ends',
      'CALLEE go MORE (goto)',
      'CALLEE return BACK (result)',
      'MORE return BACK (result)',
      'START call CALLEE (call)',
    ],
  ],
  [
    'a callee of several places is drawn once, with references to it',
    {
      START: '<call return="A">CALLEE</call>',
      A: '<function return="B">CALLEE</function>',
      B: RESULT,
      CALLEE: RESULT,
    },
    [
      'A call [CALLEE] (function)',
      'B ends',
      'CALLEE ends',
      'START call [CALLEE] (call)',
      '[CALLEE] return A (return)',
      '[CALLEE] return B (return)',
    ],
  ],
  [
    'a callee that calls itself is referred to',
    { START: '<call return="END">C</call>', C: `<call return="C">C</call> ${RESULT}`, END: RESULT },
    [
      'C call [C] (call)',
      'C ends',
      'END ends',
      'START call [C] (call)',
      '[C] return C (return)',
      '[C] return END (return)',
    ],
  ],
  [
    'one callee may return to two places',
    {
      START: '<call return="A">C</call> <call return="B">C</call>',
      A: RESULT,
      B: RESULT,
      C: RESULT,
    },
    [
      'A ends',
      'B ends',
      'C ends',
      'START call [C] (call)',
      'START call [C] (call)',
      '[C] return A (return)',
      '[C] return B (return)',
    ],
  ],
  [
    'without a known result the caller itself leads to where it continues',
    { START: '<call return="BACK">CALLEE</call>', CALLEE: '', BACK: RESULT },
    ['BACK ends', 'START call CALLEE (call)', 'START return BACK (return)'],
  ],
  [
    'the result of a nested callee leads into the outer callee',
    {
      START: '<call return="END">OUTER</call>',
      OUTER: '<function return="AFTER">INNER</function>',
      INNER: RESULT,
      AFTER: RESULT,
      END: RESULT,
    },
    [
      'AFTER return END (result)',
      'END ends',
      'INNER return AFTER (result)',
      'OUTER call INNER (function)',
      'START call OUTER (call)',
    ],
  ],
  [
    'a state that is also reached without a call may also end the run',
    {
      START: '<call return="END">C</call> <goto>C</goto>',
      C: RESULT,
      END: RESULT,
    },
    ['C ends', 'C return END (result)', 'END ends', 'START call C (call)', 'START go C (goto)'],
  ],
  [
    'a child ends by itself',
    { START: '<fork next="N">W</fork>', W: RESULT, N: RESULT },
    ['N ends', 'START next N (next)', 'START worker W (fork)', 'W ends'],
  ],
  [
    'the results of children lead to where their parent joins them',
    {
      START: '<fork worktree="x">W</fork> <join failed_next="BAD">MERGE</join>',
      W: `<goto>X</goto> ${RESULT}`,
      X: RESULT,
      MERGE: RESULT,
      BAD: RESULT,
    },
    [
      'BAD ends',
      'MERGE ends',
      'START failed BAD (a child agent failed)',
      'START join MERGE (join)',
      'START worker W (fork, worktree)',
      'W go X (goto)',
      'W join MERGE (result)',
      'X join MERGE (result)',
    ],
  ],
  [
    'a later state may join the children',
    {
      START: '<fork next="NEXT">W</fork>',
      NEXT: '<goto>JOIN</goto>',
      JOIN: '<join>MERGE</join>',
      MERGE: '<fork next="MERGE">LAST</fork>',
      W: RESULT,
      LAST: RESULT,
    },
    [
      'JOIN join MERGE (join)',
      'LAST ends',
      'MERGE next MERGE (next)',
      'MERGE worker LAST (fork)',
      'NEXT go JOIN (goto)',
      'START next NEXT (next)',
      'START worker W (fork)',
      'W join MERGE (result)',
    ],
  ],
  [
    'a child that several states start is referred to',
    {
      START: '<fork>W</fork> <join>A</join>',
      A: '<fork>W</fork> <join>B</join>',
      B: RESULT,
      W: RESULT,
    },
    [
      'A join B (join)',
      'A worker [W] (fork)',
      'B ends',
      'START join A (join)',
      'START worker [W] (fork)',
      'W ends',
      '[W] join A ()',
      '[W] join B ()',
    ],
  ],
  [
    'other workflows, and targets that are unknown or missing, stand beside each state',
    {
      'START.sh':
        'echo "<goto>$x</goto> <goto>NOPE</goto> <call-workflow return=\\"A\\">../o</call-workflow>"',
      'A.sh': 'echo "<goto>$x</goto> <goto>NOPE</goto> <reset-workflow>../o</reset-workflow>"',
    },
    [
      '../o return A (return)',
      'A go ../o (reset-workflow)',
      'A go ? (goto)',
      'A go NOPE (goto)',
      'START call ../o (call-workflow)',
      'START go ? (goto)',
      'START go NOPE (goto)',
    ],
  ],
  [
    'a judge of several states is referred to',
    {
      START: '---\nevaluators: [{prompt: J, expect: "YES", then: {tag: goto, target: A}}]\n---\n',
      A: '---\nevaluators: [{prompt: J, expect: "YES", then: {tag: goto, target: A}}]\n---\n',
      J: RESULT,
    },
    [
      'A go A (goto (evaluator))',
      'A judge [J] (judge)',
      'J ends',
      'START go A (goto (evaluator))',
      'START judge [J] (judge)',
    ],
  ],
])('%s', (_, files, expected) => {
  expect(drawn(files)).toEqual([...expected].sort());
});

test('every node of a large workflow with a thousand callees is drawn', () => {
  const callees = Array.from({ length: 1_000 }, (_, i) => i);
  const files = Object.fromEntries([
    ...callees.map((i) => [`S${i}`, `<call return="S${i + 1}">C${i}</call>`]),
    ...callees.map((i) => [`C${i}`, RESULT]),
    ['S1000', RESULT],
    ['START', '<goto>S0</goto>'],
  ]);
  const { nodes, edges } = pictureOf(graphOf(workflowOf(files)));
  expect(nodes).toHaveLength(2_002);
  const led = edges.filter(({ label }) => label === 'result').length;
  const open = edges.filter(({ label }) => label === 'return').length;
  expect(led + open).toBe(1_000);
  expect(led).toBeGreaterThan(50);
});
