// Workflows in which several real agents take turns. Each has its own scripted model.
import { afterEach, expect, test } from 'vitest';
import type { RunEvent } from '../../src/model/event.ts';
import {
  answering,
  conversationLines,
  eventsOf,
  killHard,
  type RaymondSandbox,
  raymondSandbox,
} from '../real-agent/raymond-sandbox.ts';
import { codexSandbox } from './codex-sandbox.ts';
import { type Script, scriptedResponses } from './scripted-responses.ts';

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function bothAgents(
  workflow: Readonly<Record<string, string>>,
  claudeSays: Parameters<typeof answering>[0],
  codexSays: Script,
) {
  const responses = await scriptedResponses(codexSays);
  const codex = await codexSandbox(responses.url);
  const { PATH: _path, HOME: _home, ...environment } = codex.environment;
  const raymond = await raymondSandbox({
    age: 'newer',
    workflow,
    script: answering(claudeSays),
    environment,
  });
  open.push(async () => {
    await raymond.remove();
    await responses.close();
    await codex.remove();
  });
  return { raymond, responses };
}

const FLOW = {
  'START.md': 'plan',
  'WORK.md': '---\nagent: codex\n---\nwork on {{input}}',
  'CHECK.md': '---\nagent: codex\n---\ncheck',
  'DONE.md': '---\nagent: codex\n---\nafter {{result}}',
  'REVIEW.md': 'review {{result}}',
};

const codexTurn = (prompt: string): string => {
  if (prompt.startsWith('work on')) return '<call return="DONE">CHECK</call>';
  return prompt === 'check' ? '<result>checked</result>' : '<result>worked</result>';
};

test('agents take turns, each with its own memory, and a kill of Raymond loses no turn', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { raymond, responses } = await bothAgents(
    FLOW,
    {
      plan: '<function return="REVIEW" input="the plan">WORK</function>',
      'review worked': '<result>reviewed</result>',
    },
    ({ prompt }) =>
      prompt === 'check' ? { text: codexTurn(prompt), after: held } : codexTurn(prompt),
  );
  const started = raymond.start('workflow', '--workflow-id', 'turns');
  await responses.arrived(2);
  await killHard(started.child);
  const resumed = raymond.start('resume', 'turns');
  await adopted(raymond);
  release();
  const finished = await resumed.finished;
  expect(finished).toMatchObject({ code: 0, stdout: 'reviewed\n' });
  // A part of the cost is an estimate.
  expect(finished.stderr).toMatch(/CHECK\.md -> result .*~\$0\.0003/);
  expect(finished.stderr).toMatch(/completed .*~\$/);

  const call = 'assistant: <call return="DONE">CHECK</call>';
  expect(responses.requests.map(({ lines }) => lines)).toEqual([
    ['user: work on the plan'],
    ['user: work on the plan', call, 'user: check'],
    ['user: work on the plan', call, 'user: after checked'],
  ]);
  expect(raymond.model.requests.map((request) => conversationLines(request))).toEqual([
    ['user: plan'],
    [
      'user: plan',
      'assistant: <function return="REVIEW" input="the plan">WORK</function>',
      'user: review worked',
    ],
  ]);

  const events = raymond.journal('turns');
  const turns = eventsOf(events, 'step-started').map(({ state, executor }) => [state, executor]);
  expect(turns).toEqual([
    ['START.md', 'claude'],
    ['WORK.md', 'codex'],
    ['CHECK.md', 'codex'],
    ['DONE.md', 'codex'],
    ['REVIEW.md', 'claude'],
  ]);
  expect(costsOfCodex(events)).toEqual([COST, COST, COST]);
  await expect.poll(() => raymond.processes().filter((pid) => isAlive(pid))).toEqual([]);
});

const COST = {
  usd: expect.closeTo((60 * 1.25 + 40 * 0.125 + 20 * 10) / 1_000_000, 9),
  from: 'priced',
};

function costsOfCodex(events: readonly RunEvent[]) {
  const ofCodex = new Set(
    eventsOf(events, 'step-started').flatMap(({ step, executor }) =>
      executor === 'codex' ? [step] : [],
    ),
  );
  return eventsOf(events, 'step-ended').flatMap(({ step, cost }) =>
    ofCodex.has(step) ? [cost] : [],
  );
}

/** Resolves when the resumed process has taken over the run. */
async function adopted(raymond: RaymondSandbox): Promise<void> {
  const isResumed = () => eventsOf(raymond.journal('turns'), 'run-resumed').length > 0;
  while (!isResumed()) await new Promise((resolve) => setTimeout(resolve, 20));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test('a choice of agent that the run cannot follow is refused at the start', async () => {
  const { raymond } = await bothAgents(
    { 'START.md': 'plan' },
    { plan: '<result>x</result>' },
    () => 'x',
  );
  const refused = await raymond.run(
    'workflow',
    '--agent',
    'codex',
    '--disallowed-tools',
    'WebFetch',
  );
  expect(refused.code).toBe(64);
  expect(refused.stderr).toContain('The agent codex of START.md cannot follow --disallowed-tools.');
  const asking = await raymond.run('workflow', '--agent', 'codex', '--ask-permissions');
  expect(asking.stderr).toContain('The agent codex of START.md cannot follow --ask-permissions.');
  const unknown = await raymond.run('workflow', '--agent', 'codx');
  expect(unknown.stderr).toContain('Did you mean codex?');
  const played = await raymond.run('workflow', '--agent', 'codex', '--model', 'gpt-5.1-codex');
  expect(played).toMatchObject({ code: 1 });
  expect(raymond.model.requests).toHaveLength(0);
});
