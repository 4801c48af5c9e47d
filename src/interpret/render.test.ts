import { expect, test } from 'vitest';
import type { Stage, StageOptions } from '../../test/make-run.ts';
import { makeRun, state } from '../../test/make-run.ts';
import { fill, renderPrompt, scriptVariables } from './render.ts';

function rendered(stage: Stage, id = 'main', taskFolder = () => '/task'): string {
  stage.start(id);
  const agent = stage.agent(id);
  const workflow = stage.workflows(agent.workflow);
  const executed = agent.status.kind === 'running' && workflow?.states.get(agent.status.state);
  if (!workflow || !executed || executed.kind !== 'prompt') throw new Error('no prompt');
  return renderPrompt(executed, { workflow, run: stage.run, agent, taskFolder });
}

const started = (text: string, options: StageOptions = {}) =>
  makeRun({ START: { text, answers: [] }, N: { text, answers: [] } }, options);

test.each([
  ['result and input are the same value', '{{result}}={{input}}', 'v=v'],
  [
    'an unknown name stays as written',
    '{{unknown}} {{ result }} {{1}} {{}} {{constructor}}',
    '{{unknown}} {{ result }} {{1}} {{}} {{constructor}}',
  ],
  [
    'ids, state and task folder',
    '{{workflow_id}} {{agent_id}} {{state}} {{task_folder}}',
    'flow-00000000 main START.md /task',
  ],
  ['metadata', '{{issue}}', '195'],
  ['braces beside a placeholder', '{{{result}}}', '{v}'],
])('%s', (_, text, prompt) => {
  expect(rendered(started(text, { input: 'v', metadata: { issue: '195' } }))).toBe(prompt);
});

test('a value is inserted as it is: it is not expanded and not a pattern', () => {
  const input = '{{issue}} {{result}} $& $1 $$';
  expect(rendered(started('<{{result}}>', { input, metadata: { issue: '195' } }))).toBe(
    `<${input}>`,
  );
});

test('without a value, result is empty', () => {
  expect(rendered(started('<{{result}}>'))).toBe('<>');
});

test('a value is consumed by the state that receives it', () => {
  const stage = started('<{{result}}>', { input: 'v' });
  stage.turn('<goto>N</goto>');
  expect(rendered(stage)).toBe('<>');
  stage.turn('<goto input="w">N</goto>');
  expect(rendered(stage)).toBe('<w>');
});

test('a fork attribute overrides metadata', () => {
  const stage = started('{{item}} {{other}}', { metadata: { item: 'all', other: 'o' } });
  stage.turn('<fork next="N" item="one">N</fork>');
  expect(rendered(stage)).toBe('all o');
  expect(rendered(stage, 'main_n1')).toBe('one o');
});

test('the task folder is created only when it is used', () => {
  let asked = 0;
  const folder = () => `/task/${++asked}`;
  rendered(started('{{result}}'), 'main', folder);
  expect(asked).toBe(0);
  expect(rendered(started('{{task_folder}}'), 'main', folder)).toBe('/task/1');
});

test('a judge sees the output and the transition', () => {
  const stage = makeRun({
    START: state(
      'evaluators: [{ prompt: J, expect: "YES", then: { tag: goto, target: J } }]',
      '{{output}}',
    ),
    J: { text: '{{output}}|{{transition}}|{{state}}', answers: [] },
  });
  expect(rendered(stage)).toBe('{{output}}');
  stage.turn('Well. <goto input="{{state}}">J</goto>');
  expect(rendered(stage)).toBe(
    'Well. <goto input="{{state}}">J</goto>|<goto input="{{state}}">J</goto>|START.md',
  );
});

test('fill asks for each name and keeps unknown names', () => {
  expect(fill('{{a}}{{b}}{{a}}', (name) => (name === 'a' ? '{{b}}' : undefined))).toBe(
    '{{b}}{{b}}{{b}}',
  );
});

test('the environment of a script', () => {
  const stage = makeRun({ START: [], 'W.sh': [] }, { metadata: { issue: '195', item: 'all' } });
  stage.turn('<fork next="START" item="one" path="x">W</fork>');
  stage.start('main_w1');
  const agent = stage.agent('main_w1');
  const workflow = stage.workflows('/flow');
  if (!workflow) throw new Error('no workflow');
  const about = { environment: { issue: '0', MODE: 'x' } };
  const from = {
    workflow: { ...workflow, about },
    run: stage.run,
    agent,
    taskFolder: () => '/task',
  };
  expect(scriptVariables(from)).toEqual({
    MODE: 'x',
    issue: '195',
    item: 'one',
    RAYMOND_WORKFLOW_ID: 'flow-00000000',
    RAYMOND_AGENT_ID: 'main_w1',
    RAYMOND_STATE: 'W.sh',
    RAYMOND_TASK_FOLDER: '/task',
    RAYMOND_TRIGGER: 'a person',
    RAYMOND_ANSWER_FILES: '',
    RAYMOND_ATTEMPT: '1',
  });
});
