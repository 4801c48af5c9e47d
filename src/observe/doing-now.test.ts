import { expect, test } from 'vitest';
import { visible } from '../model/visible.ts';
import type { Live } from '../ports.ts';
import { DoingNow } from './doing-now.ts';
import { doingText } from './doing-text.ts';

const tool = (summary: string): Live => ({ kind: 'tool', name: 'Bash', summary });
const words = (text: string): Live => ({ kind: 'text', text });
const key = (agent: string, step = 1) => ({ agent, step });

test('an agent has its last tool call, its last words and its last note, with their times', () => {
  const doing = new DoingNow();
  doing.live(key('main'), words('First'), 1);
  doing.live(key('main'), tool('npm test'), 2);
  doing.live(key('main'), { kind: 'note', text: 'retries' }, 3);
  doing.live(key('main'), words('Now\nI read the file.'), 4);
  expect(doing.snapshot(9)).toEqual({
    at: 9,
    agents: [
      {
        agent: 'main',
        step: 1,
        tool: { at: 2, name: 'Bash', summary: 'npm test' },
        words: { at: 4, text: 'Now I read the file.' },
        note: { at: 3, text: 'retries' },
      },
    ],
    omitted: 0,
  });
});

test('a tool call that arrives together with the words before it is newer', () => {
  const doing = new DoingNow();
  doing.live(key('main'), tool('ls'), 5);
  doing.live(key('main'), words('I run the tests.'), 5);
  doing.live(key('main'), tool('npm test'), 5);
  const [main] = doing.snapshot(9).agents;
  expect(main && doingText(main)).toBe('Bash npm test');
});

test('the most recently active agent comes first', () => {
  const doing = new DoingNow();
  for (const [at, agent] of ['a', 'b', 'c', 'a'].entries()) doing.live(key(agent), words('x'), at);
  expect(doing.snapshot(9).agents.map(({ agent }) => agent)).toEqual(['a', 'c', 'b']);
});

test('the next step of an agent does not inherit from the last one', () => {
  const doing = new DoingNow();
  doing.live(key('main', 1), tool('old'), 1);
  doing.live(key('main', 2), words('new'), 2);
  expect(doing.snapshot(3).agents).toEqual([
    { agent: 'main', step: 2, words: { at: 2, text: 'new' } },
  ]);
});

test('the end of a step removes its agent, and only a removal is a change', () => {
  const doing = new DoingNow();
  const end = {
    type: 'step-failed',
    at: 3,
    agent: 'main',
    step: 1,
    cost: { usd: 0, from: 'told' },
    failure: { kind: 'crashed', message: 'x' },
  } as const;
  expect(doing.event(end)).toBe(false);
  doing.live(key('main'), tool('x'), 1);
  expect(doing.event(end)).toBe(true);
  expect(doing.snapshot(4).agents).toEqual([]);
});

test.each<Live>([
  { kind: 'denied', tool: 'Bash' },
  { kind: 'prompt', text: 'long' },
  { kind: 'text', text: ' \n' },
])('%j changes nothing', (live) => {
  expect(new DoingNow().live(key('main'), live, 1)).toBe(false);
});

test('hostile text is one short clean line', () => {
  const doing = new DoingNow();
  doing.live(key('main'), words(`\x1b[2J\u202e${'long '.repeat(100_000)}`), 1);
  doing.live(key('main'), { kind: 'tool', name: `\x07${'n'.repeat(9_000)}`, summary: 'a\nb' }, 2);
  const [main] = doing.snapshot(3).agents;
  const shown = [main?.words?.text, main?.tool?.name, main?.tool?.summary].join(' ');
  expect(visible(shown)).toBe(shown);
  expect(shown).not.toContain('\n');
  expect(shown.length).toBeLessThan(1_000);
});

test('the size is bounded, and the agents that do not fit are counted', () => {
  const doing = new DoingNow();
  for (let n = 0; n < 5_000; n += 1) {
    doing.live(key(`main_worker${n}`), words('é'.repeat(5_000)), n);
    doing.live(key(`main_worker${n}`), tool('x'.repeat(5_000)), n);
  }
  const now = doing.snapshot(9_999);
  expect(Buffer.byteLength(JSON.stringify(now))).toBeLessThan(400_000);
  expect(now.agents.length).toBeGreaterThan(200);
  expect(now.agents.length + now.omitted).toBe(5_000);
  expect(now.agents[0]?.agent).toBe('main_worker4999');
});

test('the cost so far is kept beside what the agent does', () => {
  const doing = new DoingNow();
  doing.live(key('main'), tool('a'), 1);
  doing.live(key('main'), { kind: 'spent', usd: 0.1 }, 2);
  doing.live(key('main'), { kind: 'spent', usd: 0.2 }, 3);
  expect(doing.snapshot(4).agents).toEqual([
    { agent: 'main', step: 1, tool: { at: 1, name: 'Bash', summary: 'a' }, spentUsd: 0.2 },
  ]);
});
