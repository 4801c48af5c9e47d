/** Raymond also stops endless growth that costs no money. */
import { expect, test } from 'vitest';
import { command } from '../command.ts';
import { newProject } from '../new-project.ts';

test.each([
  [
    'forks',
    `for i in $(seq 1001); do echo '<fork>NEXT</fork>'; done; echo '<goto>NEXT</goto>'`,
    [],
    'at most 1000 are allowed',
  ],
  ['agents', `echo '<fork next="START">NEXT</fork>'`, ['--max-agents', '4'], 'at most 4 agents'],
  [
    'calls',
    `echo '<call return="NEXT">START</call>'`,
    ['--max-depth', '5'],
    'at most 5 are allowed',
  ],
])('%s have a ceiling', async (_, script, options, why) => {
  const project = newProject({
    'flow/START.sh': script,
    'flow/NEXT.sh': `echo '<result>x</result>'`,
  });
  const { code, stderr } = await command(project, ['flow', ...options]);
  expect(stderr).toContain(why);
  expect(code).toBe(1);
});

test.each([
  ['0', [], 'budget $10.00'],
  ['50', [], 'but the default is $10.00. To allow it: --budget 50'],
  ['50', ['--budget', '50'], 'budget $50.00'],
  ['2', [], 'budget $2.00'],
])('a workflow with default_budget: %s, run with %j: %s', async (budget, options, says) => {
  const project = newProject({
    'flow.yaml': `default_budget: ${budget}\nstates: {START: {sh: "echo '<result>x</result>'"}}`,
  });
  const { code, stderr } = await command(project, ['flow.yaml', ...options]);
  expect(stderr).toContain(says);
  expect(code).toBe(0);
});
