import { expect, test } from 'vitest';
import { play } from '../../src/testing.ts';

test('the five-hop call: a callee may move on as it likes, its result returns to the caller', async () => {
  const { path, steps, run } = await play({
    START: ['<goto>S1</goto>'],
    S1: ['<call return="S3.md">S2.md</call>'],
    S2: ['<goto>S4.md</goto>'],
    S4: ['<goto>S5</goto>'],
    S5: ['<result>found it</result>'],
    S3: { text: 'Got {{result}}.', answers: ['<result>done</result>'] },
  });
  expect(path()).toEqual(['START', 'S1', 'S2', 'S4', 'S5', 'S3']);
  expect(steps.map((s) => s.session)).toEqual([
    { use: 'fresh', id: 's1' },
    { use: 'continue', id: 's1' },
    { use: 'branch', from: 's1', id: expect.any(String) },
    { use: 'continue', id: steps[2]?.session?.id },
    { use: 'continue', id: steps[2]?.session?.id },
    { use: 'continue', id: 's1' },
  ]);
  expect(steps[5]?.prompt).toBe('Got found it.');
  expect(run.result).toBe('done');
  expect(run.status).toEqual({ kind: 'ended', outcome: 'completed' });
});
