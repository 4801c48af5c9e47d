import { expect, test } from 'vitest';
import { WITH_PLAIN } from '../../test/lint/agents.ts';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import { agentNamed, agentOf, choicesFor } from './chosen-agent.ts';
import { readPrompt } from './front-matter.ts';

const flow = (files: Readonly<Record<string, string>>) => {
  const workflow = workflowOf(files);
  const [prompt] = [...workflow.states.values()].filter(({ name }) => name === 'START.md');
  if (prompt?.kind !== 'prompt') throw new Error('START is no prompt');
  return { workflow, agent: agentOf(workflow, prompt) };
};

test('the state wins over the workflow, and the workflow over the usual agent', () => {
  const manifest = { 'workflow.yaml': 'agent: plain\n' };
  expect(flow({ START: 'x' }).agent).toBe('claude');
  expect(flow({ START: 'x', ...manifest }).agent).toBe('plain');
  expect(flow({ START: '---\nagent: claude\n---\nx', ...manifest }).agent).toBe('claude');
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

test('names that only one agent knows apply to the usual agent of a run', () => {
  const plain = agentNamed(WITH_PLAIN, 'plain');
  if (!plain) throw new Error('no plain agent');
  const choices = { model: 'opus', effort: 'high', permissionMode: 'plan' };
  expect(choicesFor(plain, 'claude', choices)).toEqual({ permissionMode: 'plan' });
  expect(choicesFor(plain, 'plain', choices)).toEqual(choices);
});
