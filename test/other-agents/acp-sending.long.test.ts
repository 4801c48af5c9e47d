// Raymond dies while it sends a prompt to an agent of the Agent Client Protocol.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../eventually.ts';
import { fresh, scripted } from './scripted-acp.ts';

test('a prompt that may not have been sent is given up, and the step can be repeated', async () => {
  const { world, step, log } = await scripted('load');
  const half = step('never', fresh());
  const running = world.executor.start(half, () => {});
  await eventually('the turn begins', () => log().length > 0);
  world.leave();
  await running.outcome;
  const file = join(half.folder, 'turn.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"isSent":true', '"isSent":false'));
  const outcome = await world.again().adopt(half, () => {}).outcome;
  expect(outcome).toMatchObject({ kind: 'interrupted', sessionUsable: false });
  expect(world.left()).toEqual([]);
});

test('a very long prompt arrives whole', async () => {
  const { ask, log, close } = await scripted('load');
  const story = `says ${'A long story. ü '.repeat(100_000)}The end.`;
  const outcome = await ask(story, fresh());
  expect(outcome).toMatchObject({ kind: 'answered' });
  expect(log()[0]?.history[0]).toBe(story);
  await close();
});
