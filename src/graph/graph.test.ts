import { expect, test } from 'vitest';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import { graphOf } from './graph.ts';

const edges = (files: Readonly<Record<string, string>>) =>
  graphOf(workflowOf(files)).edges.map(
    ({ from, to, role, certainty, origin }) =>
      `${from.replace('state:', '')} ${role} ${to.replace('state:', '')} ${certainty} ${origin}`,
  );

const policy = (...entries: string[]) =>
  `---\nallowed_transitions:\n${entries.map((e) => `  - ${e}\n`).join('')}---\n`;

test.each([
  ['goto in a prompt', { START: '<goto>B</goto>', B: '' }, ['START.md go B.md possible prompt']],
  [
    'goto in a script',
    { 'START.sh': 'echo "<goto>B</goto>"', B: '' },
    ['START.sh go B.md certain script'],
  ],
  [
    'a policy hides other tags that the prompt shows',
    { START: `${policy('{tag: goto, target: B}')}<goto>C</goto>`, B: '', C: '' },
    ['START.md go B.md certain policy'],
  ],
  [
    'call and return',
    { START: '<call return="R">B</call>', B: '<result>x</result>', R: '' },
    [
      'B.md result end possible prompt',
      'START.md call B.md possible prompt',
      'START.md return R.md possible prompt',
    ],
  ],
  [
    'fork',
    { START: '<fork next="N" item="1">W</fork>', N: '', W: '' },
    ['START.md worker W.md possible prompt', 'START.md next N.md possible prompt'],
  ],
  [
    'ask with a timeout',
    { START: '<ask next="N" timeout="1h" timeout_next="T">Well?</ask>', N: '', T: '' },
    ['START.md answer N.md possible prompt', 'START.md timeout T.md possible prompt'],
  ],
  [
    'another workflow',
    { START: '<call-workflow return="R">../other</call-workflow>', R: '' },
    ['START.md call workflow:../other possible prompt', 'START.md return R.md possible prompt'],
  ],
  [
    'a missing state, and one that is chosen later',
    { 'START.sh': 'echo "<goto>NOPE</goto>"\necho "<goto>$x</goto>"' },
    ['START.sh go missing:NOPE certain script', 'START.sh go unknown possible script'],
  ],
  [
    'evaluators and judges',
    {
      START:
        '---\nevaluators:\n  - {prompt: J, expect: "YES", then: {tag: goto, target: B}}\n---\n',
      B: '',
      J: '<result>YES</result>',
    },
    [
      'J.md result end possible prompt',
      'START.md go B.md possible evaluator',
      'START.md judge J.md certain evaluator',
    ],
  ],
  [
    'a compact, and the state that asks for the handover',
    {
      START: `${policy('{tag: compact, target: B}').replace('---\n', '---\nhandover: H\n')}`,
      B: '',
      H: '',
      OTHER: '<goto>B</goto>',
    },
    [
      'OTHER.md go B.md possible prompt',
      'START.md go B.md certain policy',
      'START.md handover H.md certain policy',
    ],
  ],
  [
    'a limit of the session, which asks for handovers at a goto',
    {
      START: '---\nhandover: H\ncontext: {max: 9}\n---\n<goto>B</goto>',
      B: '---\nhandover: H\n---\n<goto>B</goto>',
      H: '',
    },
    [
      'B.md go B.md possible prompt',
      'START.md go B.md possible prompt',
      'START.md handover H.md certain policy',
    ],
  ],
])('%s', (_, files, expected) => {
  expect(edges(files as Record<string, string>).sort()).toEqual([...expected].sort());
});

test('an edge has the position of its tag', () => {
  const graph = graphOf(
    workflowOf({ START: `${policy('{tag: result}')}\n`, 'X.sh': '\n  echo "<goto>START</goto>"' }),
  );
  expect(graph.edges.map(({ at }) => at)).toEqual([
    { line: 3, column: 5 },
    { line: 2, column: 9 },
  ]);
});

test('two files with the same stem keep their endings', () => {
  const { nodes } = graphOf(workflowOf({ START: '', A: '', 'A.sh': '' }));
  expect(nodes.map(({ label }) => label)).toEqual(['A.md', 'A.sh', 'START']);
});
