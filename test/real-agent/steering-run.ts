// A run whose real agent is told something while it works, and processes that are killed meanwhile.
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import type { Age } from './claude-sandbox.ts';
import type { ModelRequest } from './model-request.ts';
import {
  allowBash,
  bash,
  eventsOf,
  killHard,
  type RaymondSandbox,
  type RaymondWorld,
  until,
} from './raymond-sandbox.ts';

export const WORDS = 'use the blue giraffe';

/** How often the model saw the words in this request. */
export const timesIn = (request: ModelRequest | undefined, words = WORDS): number =>
  JSON.stringify(request?.messages ?? []).split(words).length - 1;

/** When the words are said, and who is killed after that, before or after the model has heard them. */
export interface Blow {
  readonly victim: 'nobody' | 'raymond' | 'agent' | 'both';
  readonly when: 'unheard' | 'heard';
  readonly flags?: readonly string[];
}

/**
 * The agent makes two calls, each of which waits for a file. The words are said during the first. After
 * the turn, another prompt of the same session shows the whole history.
 */
export async function playBlow(
  sandbox: (world: RaymondWorld) => Promise<RaymondSandbox>,
  age: Age,
  { victim, when, flags = [] }: Blow,
): Promise<void> {
  const world = await sandbox({
    age,
    workflow: { 'START.md': 'Work.', 'NEXT.md': 'Finish.' },
    script: (request) => {
      const text = JSON.stringify(request.messages);
      if (text.includes('Finish.')) return '<result>done</result>';
      const results = text.split('"type":"tool_result"').length - 1;
      if (results === 0 && !existsSync(world.file('go1'))) return waiting('1');
      return existsSync(world.file('go2')) ? '<goto>NEXT</goto>' : waiting('2');
    },
  });
  const { claude, start, run, file, journal, model, processes } = world;
  await allowBash(claude);
  let raymond = start('workflow', '--workflow-id', 'r', ...flags);
  await until(() => existsSync(file('made1')));
  const said = await run('say', 'r', WORDS);
  expect(said).toMatchObject({ code: 0 });
  expect(said.stderr).toContain('main of r gets it in its running turn');
  if (when === 'heard') {
    await writeFile(file('go1'), '');
    await until(() => eventsOf(journal('r'), 'words-heard').length > 0);
    await until(() => existsSync(file('made2')));
  }
  if (victim === 'raymond' || victim === 'both') await killHard(raymond.child);
  if (victim === 'agent' || victim === 'both') kill(processes().at(-1));
  await writeFile(file('go1'), '');
  await writeFile(file('go2'), '');
  if (victim === 'raymond' || victim === 'both') raymond = start('resume', 'r', ...flags);
  expect(await raymond.finished).toMatchObject({ code: 0 });
  const last = model.requests.at(-1);
  expect(JSON.stringify(last?.messages)).toContain('Finish.');
  expect(model.requests.map((request) => timesIn(request))).not.toContain(2);
  expect(timesIn(last)).toBe(1);
  expect(eventsOf(journal('r'), 'words-said')).toMatchObject([
    { agent: 'main', text: WORDS, step: 1 },
  ]);
}

function kill(group: number | undefined): void {
  if (group !== undefined) process.kill(-group, 'SIGKILL');
}

const waiting = (name: string) =>
  bash(`touch made${name}; until [ -e go${name} ]; do sleep 0.05; done`);
