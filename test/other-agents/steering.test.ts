// Agents that take no words during a turn have them in front of their next prompt, whatever is killed.
import { expect, onTestFinished, test } from 'vitest';
import { inSuite } from '../long.ts';
import { eventsOf, killHard, raymondSandbox } from '../real-agent/raymond-sandbox.ts';
import { realAgent } from './acp-agents.ts';
import { codexSandbox } from './codex-sandbox.ts';
import type { Asked, Script } from './scripted-api.ts';
import { scriptedResponses } from './scripted-responses.ts';

const WORDS = 'use the blue giraffe';

async function withCodex(script: Script) {
  const model = await scriptedResponses(script);
  const { environment, remove } = await codexSandbox(model.url);
  const { PATH: _path, HOME: _home, ...others } = environment;
  const close = async () => {
    await model.close();
    await remove();
  };
  return { model, environment: others, remove: close };
}

const AGENTS = { codex: withCodex, opencode: (script: Script) => realAgent('opencode', script) };

type Case = readonly [keyof typeof AGENTS, 'nobody' | 'raymond' | 'both'];
const CASES: readonly Case[] = inSuite<Case>(
  [
    ['codex', 'raymond'],
    ['codex', 'both'],
  ],
  [
    ['codex', 'nobody'],
    ['opencode', 'raymond'],
    ['opencode', 'both'],
  ],
);

test.each(CASES)('%s, when %s is killed after the words', async (name, victim) => {
  let release = () => {};
  const after = new Promise<void>((resolve) => {
    release = resolve;
  });
  const agent = await AGENTS[name](({ prompt, lines }: Asked) => {
    if (prompt.includes('finish')) return '<result>done</result>';
    return { text: '<goto>NEXT</goto>', ...(lines.length === 1 && { after }) };
  });
  const raymond = await raymondSandbox({
    age: 'newer',
    workflow: { 'workflow.yaml': `agent: ${name}\n`, 'START.md': 'begin', 'NEXT.md': 'finish' },
    script: [],
    environment: agent.environment,
  });
  onTestFinished(async () => {
    await raymond.remove();
    await agent.remove();
  });
  let carrying = raymond.start('workflow', '--workflow-id', 'r');
  await agent.model.arrived(1);
  const said = await raymond.run('say', 'r', WORDS);
  expect(said.stderr).toContain('It waits for the next prompt of main of r');
  if (victim !== 'nobody') await killHard(carrying.child);
  if (victim === 'both') for (const pid of raymond.processes()) process.kill(-pid, 'SIGKILL');
  release();
  if (victim !== 'nobody') carrying = raymond.start('resume', 'r');
  expect(await carrying.finished).toMatchObject({ code: 0 });
  const spoken = agent.model.requests.map(({ lines }) => lines.join('\n').split(WORDS).length - 1);
  expect(spoken.at(0)).toBe(0);
  expect(spoken.at(-1)).toBe(1);
  expect(Math.max(...spoken)).toBe(1);
  const events = raymond.journal('r');
  const [{ words = '' } = {}] = eventsOf(events, 'words-said');
  expect(eventsOf(events, 'step-started').flatMap((step) => step.words ?? [])).toEqual([words]);
});
