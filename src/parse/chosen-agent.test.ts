import { expect, test } from 'vitest';
import { WITH_PLAIN } from '../../test/lint/agents.ts';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import { laneName } from '../model/agent.ts';
import { agentNamed, agentsOf, choicesFor, choicesOfLane, lanesOf } from './chosen-agent.ts';
import { readPrompt } from './front-matter.ts';

const flow = (files: Readonly<Record<string, string>>) => {
  const workflow = workflowOf(files);
  const [prompt] = [...workflow.states.values()].filter(({ name }) => name === 'START.md');
  if (prompt?.kind !== 'prompt') throw new Error('START is no prompt');
  return { workflow, agents: agentsOf(workflow, prompt) };
};

test('the state wins over the workflow, and the workflow over the usual agent', () => {
  const manifest = { 'workflow.yaml': 'agent: plain\n' };
  expect(flow({ START: 'x' }).agents).toEqual(['claude']);
  expect(flow({ START: 'x', ...manifest }).agents).toEqual(['plain']);
  expect(flow({ START: '---\nagent: claude\n---\nx', ...manifest }).agents).toEqual(['claude']);
});

test.each([
  ['agent: plain', undefined],
  ['agent: plian', 'There is no agent "plian".'],
  ['agent: plain\nmodel: opus', undefined],
  ['agent: plain\nallowed_tools: [Read]', 'The agent plain does not offer allowed_tools.'],
  ['allowed_tools: [Read]\nagent: plain', 'The agent plain does not offer allowed_tools.'],
])('front matter %j: %s', (front, message) => {
  const { diagnostics } = readPrompt('A.md', `---\n${front}\n---\nx`, WITH_PLAIN);
  expect(diagnostics[0]?.message).toBe(message);
});

const laned = (front: string) => {
  const workflow = workflowOf({ START: `---\n${front}\n---\nx` });
  return { workflow, state: workflow.states.get(workflow.entry) };
};

test.each<[string, readonly string[], string | undefined]>([
  ['agent: [claude, plain]', ['claude', 'plain'], undefined],
  ['agent: [claude, plian]', ['claude'], '2:17 There is no agent "plian".'],
  ['agent: [claude, claude]', ['claude'], '2:8 agent has the same name twice.'],
  ['agent: []', ['claude'], '2:8 agent must be the name of an agent, or a list'],
  ['agent: [claude, [plain]]', ['claude'], '2:17 agent must be the name of an agent'],
  ['model: [opus, sonnet]', ['claude opus', 'claude sonnet'], undefined],
  ['model: [opus, opus]', ['claude'], '2:8 model has the same name twice.'],
  ['model: [opus, opsu]', ['claude'], '2:15 There is no model "opsu".'],
  ['model: []', ['claude'], '2:8 model must be'],
  [
    'agent: [claude, plain]\nmodel: [opus, sonnet]\neffort: high',
    ['claude opus', 'claude sonnet', 'plain'],
    undefined,
  ],
  [
    'agent: [claude, plain]\nmodel: { plain: [opus, haiku] }',
    ['claude', 'plain opus', 'plain haiku'],
    undefined,
  ],
  [
    'agent: [claude, plain]\nmodel: { codex: x }',
    ['claude', 'plain'],
    '3:10 model has no key "codex"',
  ],
  [
    'agent: [claude, plain]\nallowed_tools: [Read]',
    ['claude', 'plain'],
    '3:1 The agent plain does not offer allowed_tools.',
  ],
  ['permission_mode: { claude: plan }', ['claude'], '2:18 permission_mode must be'],
  ['agent: [claude, plain]\npermission_mode: plan', ['claude', 'plain'], undefined],
])('the lanes of %j', (front, lanes, message) => {
  const { workflow, state } = laned(front);
  const [first] = workflow.diagnostics;
  expect(first && `${first.line}:${first.column} ${first.message}`).toEqual(
    message === undefined ? undefined : expect.stringContaining(message),
  );
  if (state?.kind !== 'prompt') return;
  const place = { workflow, state, run: {}, usual: 'claude', tag: {} };
  expect(lanesOf(place).map(laneName)).toEqual(lanes);
});

test('a choice for one agent applies to the first one, and a map names others', () => {
  const front = 'agent: [claude, plain]\nmodel: { plain: [opus, haiku] }\neffort: high';
  const { workflow, state } = laned(front);
  if (state?.kind !== 'prompt') throw new Error('no prompt');
  const run = { model: ['sonnet', 'opus'], permissionMode: 'plan' };
  const place = { workflow, state, run, usual: 'claude', tag: {} };
  expect(lanesOf(place).map(laneName)).toEqual([
    ...['claude sonnet', 'claude opus', 'plain opus', 'plain haiku'],
  ]);
  const levels = lanesOf(place).map((lane) => {
    const agent = agentNamed(WITH_PLAIN, lane.agent);
    return agent?.combine(choicesOfLane(agent, place, lane.choices));
  });
  expect(levels).toMatchObject([
    { model: 'sonnet', effort: 'high', permissionMode: 'plan' },
    { model: 'opus', effort: 'high', permissionMode: 'plan' },
    { model: 'opus', permissionMode: 'plan' },
    { model: 'haiku', permissionMode: 'plan' },
  ]);
  expect(levels[3]).not.toHaveProperty('effort');
  const byTag = lanesOf({ ...place, tag: { model: 'haiku' } });
  expect(byTag.map(laneName)).toEqual(['claude', 'plain opus', 'plain haiku']);
});

test('names that only one agent knows apply to the usual agent of a run', () => {
  const plain = agentNamed(WITH_PLAIN, 'plain');
  if (!plain) throw new Error('no plain agent');
  const choices = { model: 'opus', effort: 'high', permissionMode: 'plan' };
  expect(choicesFor(plain, 'claude', choices)).toEqual({ permissionMode: 'plan' });
  expect(choicesFor(plain, 'plain', choices)).toEqual(choices);
});
