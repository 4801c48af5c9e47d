// A workflow in which three real agents take turns: one plans, one implements, one reviews.
import { expect, onTestFinished, test } from 'vitest';
import { answering, conversationLines, eventsOf } from '../real-agent/raymond-sandbox.ts';
import { TURN_COST } from './acp-agents.ts';
import { isAlive, play, replies } from './acp-play.ts';
import { codexSandbox } from './codex-sandbox.ts';
import { scriptedResponses } from './scripted-responses.ts';

test('claude plans, codex implements, opencode reviews, and each keeps its own memory', async () => {
  const responses = await scriptedResponses(
    replies({ implement: '<result>the code</result>', repair: '<result>the repair</result>' }),
  );
  const codex = await codexSandbox(responses.url);
  onTestFinished(async () => {
    await responses.close();
    await codex.remove();
  });
  const { PATH: _path, HOME: _home, ...environment } = codex.environment;
  const played = await play(
    'opencode',
    {
      'START.md': 'plan',
      'WORK.md': '---\nagent: codex\n---\nimplement {{input}}',
      'CHECK.md': 'pass on {{result}}',
      'REVIEW.md': '---\nagent: opencode\n---\nreview {{input}}',
      'DOUBT.md': '---\nagent: opencode\n---\ndoubt',
      'SURE.md': '---\nagent: opencode\n---\nafter {{result}}',
      'DONE.md': 'conclude {{result}}',
    },
    replies({
      review: '<call return="SURE">DOUBT</call>',
      doubt: '<result>no doubt</result>',
      after: '<result>fine</result>',
    }),
    answering({
      plan: '<function return="CHECK" input="the plan">WORK</function>',
      'pass on': '<function return="DONE" input="the code">REVIEW</function>',
      conclude: '<result>released</result>',
    }),
    environment,
  );
  const { raymond, agent } = played;
  const finished = await raymond.run('workflow', '--workflow-id', 'r');
  expect(finished).toMatchObject({ code: 0, stdout: 'released\n' });

  const plan = [
    'user: plan',
    'assistant: <function return="CHECK" input="the plan">WORK</function>',
  ];
  const pass = [
    ...plan,
    'user: pass on the code',
    'assistant: <function return="DONE" input="the code">REVIEW</function>',
  ];
  expect(raymond.model.requests.map(conversationLines)).toEqual([
    plan.slice(0, 1),
    pass.slice(0, 3),
    [...pass, 'user: conclude fine'],
  ]);
  expect(responses.requests.map(({ lines }) => lines)).toEqual([['user: implement the plan']]);
  const review = ['user: review the code', 'assistant: <call return="SURE">DOUBT</call>'];
  expect(agent.model.requests.map(({ lines }) => lines)).toEqual([
    review.slice(0, 1),
    [...review, 'user: doubt'],
    [...review, 'user: after no doubt'],
  ]);

  const events = raymond.journal('r');
  const takers = eventsOf(events, 'step-started').map(({ executor }) => executor);
  expect(takers).toEqual([
    ...['claude', 'codex', 'claude'],
    ...['opencode', 'opencode', 'opencode', 'claude'],
  ]);
  const costs = eventsOf(events, 'step-ended').map(({ cost }) => cost);
  const opencode = {
    usd: expect.closeTo(TURN_COST.opencode.usd, 9),
    from: TURN_COST.opencode.from,
  };
  expect(costs.slice(3, 6)).toEqual([opencode, opencode, opencode]);
  expect(costs[1]).toMatchObject({ from: 'priced' });
  await expect.poll(() => raymond.processes().filter(isAlive)).toEqual([]);
});
