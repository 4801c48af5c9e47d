/** The manifest of a workflow that another workflow enters. */
import { expect, test } from 'vitest';
import { play, type Script } from '../../src/testing.ts';

const other = (manifest: string): Script => ({
  'workflow.yaml': { text: manifest, answers: [] },
  START: { text: 'Got {{input}}.', answers: () => '<result>ok</result>' },
});

const tags = {
  call: (input = '') => `<call-workflow return="END"${input}>../other</call-workflow>`,
  function: (input = '') => `<function-workflow return="END"${input}>../other</function-workflow>`,
  reset: (input = '') => `<reset-workflow${input}>../other</reset-workflow>`,
  fork: (input = '') => `<fork-workflow next="END"${input}>../other</fork-workflow>`,
};

const enter = (answer: string, manifest: string) =>
  play({ START: [answer], END: () => '<result>end</result>' } as const, {
    workflows: { '../other': other(manifest) },
  });

test.each(Object.entries(tags))('<%s-workflow> passes the default of the input', async (_, tag) => {
  const played = await enter(tag(), 'input: { required: true, default: the default }');
  const prompts = played.steps.map(({ prompt }) => prompt);
  expect(prompts).toContain('Got the default.');
  expect(played.run.status).toEqual({ kind: 'ended', outcome: 'completed' });
});

test.each(Object.entries(tags))('<%s-workflow> passes its own input instead', async (_, tag) => {
  const played = await enter(tag(' input="mine"'), 'input: { required: true, default: d }');
  expect(played.steps.map(({ prompt }) => prompt)).toContain('Got mine.');
});

test.each(Object.entries(tags))('<%s-workflow> without a required input fails', async (_, tag) => {
  const played = await enter(tag(), 'input: { required: true, label: the issue }');
  expect(played.events.find(({ type }) => type === 'agent-failed')).toMatchObject({
    failure: {
      kind: 'bad-transition',
      message: 'There is no input, but the workflow workflow needs an input: the issue.',
    },
  });
});

test('limits of a manifest hold in the workflow that has it', async () => {
  const played = await play({
    'workflow.yaml': { text: 'states: { LOOP.sh: { max_visits: 2 } }', answers: [] },
    START: ['<goto>LOOP</goto>'],
    'LOOP.sh': () => '<goto>LOOP</goto>',
  });
  expect(played.path()).toEqual(['START', 'LOOP', 'LOOP']);
  expect(played.events.find(({ type }) => type === 'agent-failed')).toMatchObject({
    failure: { kind: 'too-many-visits' },
  });
});
