// A usage limit of one real agent after the other: the next lane takes new sessions, and no agent continues
// the session of another one.
import { expect, onTestFinished, test } from 'vitest';
import {
  answering,
  eventsOf,
  killHard,
  type RaymondSandbox,
  until,
} from '../real-agent/raymond-sandbox.ts';
import { rateLimited } from '../real-agent/scripted-model.ts';
import { play, replies } from './acp-play.ts';
import { codexSandbox } from './codex-sandbox.ts';
import type { Script } from './scripted-api.ts';
import { scriptedResponses } from './scripted-responses.ts';

const inAnHour = Math.floor(Date.now() / 1000) + 3600;
const subscription = {
  ANTHROPIC_API_KEY: '',
  CLAUDE_CODE_OAUTH_TOKEN: 'sk-ant-oat01-fake',
  CLAUDE_CODE_MAX_RETRIES: '0',
};
const claudeLimit = rateLimited({
  'anthropic-ratelimit-unified-status': 'rejected',
  'anthropic-ratelimit-unified-reset': String(inAnHour),
  'anthropic-ratelimit-unified-representative-claim': 'five_hour',
  'anthropic-ratelimit-unified-overage-status': 'rejected',
});
const codexLimit = {
  status: 429,
  error: { type: 'usage_limit_reached', message: 'x', resets_at: inAnHour },
};

async function codexThatSays(script: Script) {
  const responses = await scriptedResponses(script);
  const codex = await codexSandbox(responses.url);
  onTestFinished(async () => {
    await responses.close();
    await codex.remove();
  });
  const { PATH: _path, HOME: _home, ...environment } = codex.environment;
  return { responses, environment };
}

const LANES = '---\nagent: [claude, codex, opencode]\n---\n';

test('claude and codex reach their limits, and opencode takes every new session and keeps it', async () => {
  const { responses, environment } = await codexThatSays(() => codexLimit);
  const { raymond, agent } = await play(
    'opencode',
    {
      'START.md': `${LANES}begin`,
      'MORE.md': `${LANES}continue`,
      'LAST.md': `${LANES}end`,
    },
    replies({
      begin: '<goto>MORE</goto>',
      continue: '<reset>LAST</reset>',
      end: '<result>done</result>',
    }),
    answering({ begin: claudeLimit }),
    { ...environment, ...subscription },
  );
  const finished = await raymond.run('workflow', '--workflow-id', 'r');
  expect(finished).toMatchObject({ code: 0, stdout: 'done\n' });
  expect(finished.stderr).toMatch(/usage limit of claude: codex takes new sessions until/);
  expect(finished.stderr).toContain(
    'LAST.md starts by opencode (usage limit of claude, usage limit of codex)',
  );
  const begun = ['user: begin', 'assistant: <goto>MORE</goto>'];
  expect(agent.model.requests.map(({ lines }) => lines)).toEqual([
    begun.slice(0, 1),
    [...begun, 'user: continue'],
    ['user: end'],
  ]);
  expect(raymond.model.requests).toHaveLength(1);
  expect(responses.requests.map(({ lines }) => lines)).toEqual([['user: begin']]);
  expect(takers(raymond)).toEqual(['claude', 'codex', 'opencode', 'opencode', 'opencode']);

  const steps = await raymond.run('show', 'r', '--steps');
  expect(steps.stdout).toMatch(/main:2 +START.md by codex .*failed/);
  const last = await raymond.run('show', 'r', 'main:5');
  expect(last.stdout).toContain('by opencode (usage limit of claude, usage limit of codex)');
});

test('a run that is killed after the switch adopts the turn, and pays for it once', async () => {
  let answer = () => {};
  const after = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const { responses, environment } = await codexThatSays(() => ({
    text: '<result>by codex</result>',
    after,
  }));
  const { raymond } = await play(
    'opencode',
    { 'START.md': `${LANES}begin` },
    replies({}),
    answering({ begin: claudeLimit }),
    { ...environment, ...subscription },
  );
  const first = raymond.start('workflow', '--workflow-id', 'r');
  await until(() => responses.requests[0]);
  await killHard(first.child);
  const resumed = raymond.start('resume', 'r');
  await until(() => eventsOf(raymond.journal('r'), 'run-resumed')[0]);
  answer();
  expect(await resumed.finished).toMatchObject({ code: 0, stdout: 'by codex\n' });
  expect(takers(raymond)).toEqual(['claude', 'codex']);
  expect(responses.requests).toHaveLength(1);
  expect(raymond.model.requests).toHaveLength(1);
});

const takers = ({ journal }: RaymondSandbox) =>
  eventsOf(journal('r'), 'step-started').map(({ executor }) => executor);
