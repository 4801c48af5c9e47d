// Tests and rehearsals of children that work at the same time.
import { expect, test } from 'vitest';
import { sandbox } from './sandbox.ts';

const { write, raymond } = sandbox();

/** The first child always reaches FIX after the second one. */
const FLOW = {
  'flow/START.sh': `echo '<fork n="1">PREPARE</fork><fork n="2">PREPARE</fork><join>END</join>'`,
  'flow/PREPARE.sh': `[ "$n" = 2 ] || until [ -e fixed ]; do sleep 0.02; done
echo '<goto>FIX</goto>'`,
  'flow/FIX.md': 'Fix {{n}}.',
  'flow/CHECKED.sh': `touch fixed; echo "<result>$RAYMOND_INPUT</result>"`,
  'flow/END.sh': `echo '<result>done</result>'`,
};

const EXPECTED = `expect:
  result: done
  paths: {main_prepar1: [PREPARE, FIX, FIX, CHECKED], main_prepar2: [PREPARE, FIX, CHECKED]}
  results: {main_prepar1: one, main_prepar2: two}
`;

const BY_AGENT = `answers_of:
  main_prepar1: {FIX: [<goto>FIX</goto>, <goto input="one">CHECKED</goto>]}
  main_prepar2: {FIX.md: <goto input="two">CHECKED</goto>}
`;

test('answers of an agent do not depend on which child is faster', async () => {
  write({ ...FLOW, 'flow/a.test.yaml': `${BY_AGENT}${EXPECTED}` });
  const { code, stdout } = await raymond('test', 'flow');
  expect([code, stdout]).toEqual([0, expect.stringContaining('1 passed')]);
});

test.each([
  [
    'answers_of: {main_prepar2: {FIX: <goto>CHECKED</goto>}}',
    'an answer for each execution of FIX',
  ],
  [`${BY_AGENT}  main_fix1: {FIX: x}\n`, 'no agent main_fix1 was forked'],
  [`${BY_AGENT}  main: {FIXX: x}\n`, 'did you mean FIX?'],
])('%s fails the test, although the run completes', async (answers, message) => {
  write({ ...FLOW, 'flow/a.test.yaml': answers });
  const { code, stdout } = await raymond('test', 'flow');
  expect([code, stdout]).toEqual([1, expect.stringContaining(message)]);
});

test('a rehearsal also has answers of agents', async () => {
  const start = FLOW['flow/START.sh'].replace(/echo '(.*)'/, '$1');
  const answers = `answers:\n  PREPARE: <goto>FIX</goto>\n  START: ${start}\n`;
  write({ ...FLOW, 'flow/rehearsal.yaml': `${BY_AGENT}${answers}` });
  const { code, stderr } = await raymond('flow', '--rehearse', '--workflow-id', 'one');
  expect(code, stderr).toBe(0);
  const shown = JSON.parse((await raymond('show', 'one', '--json')).stdout);
  const children = shown.agents.filter(({ id }: { id: string }) => id !== 'main');
  const states = children.map(({ id, steps }: { id: string; steps: number }) => [id, steps]);
  expect(Object.fromEntries(states)).toEqual({ main_prepar1: 4, main_prepar2: 3 });
});

test('a rehearsal refuses an answer for a state that does not exist', async () => {
  write({ ...FLOW, 'flow/rehearsal.yaml': `${BY_AGENT}  main: {FIXX: x}\n` });
  const { code, stderr } = await raymond('flow', '--rehearse');
  expect([code, stderr]).toEqual([64, expect.stringContaining('answers has FIXX')]);
});
