import { expect, test } from 'vitest';
import type { AgentShape, AgentStatusShape } from '../../src/look/run-shape.ts';
import { agentTold, sortedAgents } from './agents.ts';

const AT = '2026-01-01T00:00:00.000Z';
const failure = { kind: 'crashed', message: 'It crashed.' } as const;

function agent(id: string, status: AgentStatusShape, item = ''): AgentShape {
  return {
    id,
    parent: null,
    workflow: 'w',
    state: 'REVIEW.md',
    variables: item === '' ? {} : { item },
    cwd: null,
    session: null,
    stack: [],
    steps: 1,
    attempts: 1,
    cost_usd: 0,
    worked_ms: 0,
    born_at: AT,
    worktree: null,
    status,
  };
}

const ended: AgentStatusShape = { kind: 'ended', at: AT, result: { text: 'ok', omitted: 0 } };
const running: AgentStatusShape = {
  kind: 'running',
  step: 1,
  state: 'R',
  prompt: true,
  since: AT,
  queued: false,
  requests: [],
};
const asking: AgentStatusShape = {
  kind: 'asking',
  question: 'Ship\u202e it?',
  asked_at: AT,
  deadline: null,
  approval: null,
  files: [],
  accept: null,
  most_file_bytes: 0,
  answered: false,
};

const AGENTS = [
  agent('a', ended),
  agent('b', running, 'apple'),
  agent('c', asking),
  agent('d', { kind: 'failed', failure, joined: false }),
  agent('e', running, 'pear'),
];
const ids = (words: string) => sortedAgents(AGENTS, words).map(({ id }) => id);

test('failed agents are first, then those that wait, then those at work', () => {
  expect(ids('')).toEqual(['d', 'c', 'b', 'e', 'a']);
});

test.each([
  ['apple', ['b']],
  ['running pear', ['e']],
  ['review', ['d', 'c', 'b', 'e', 'a']],
  ['nothing', []],
])('the words %j', (words, expected) => {
  expect(ids(words)).toEqual(expected);
});

test('text of an agent cannot turn the direction of the line', () => {
  expect(agentTold(agent('c', asking), 0)).toBe('Ship\\u{202e} it?');
});
