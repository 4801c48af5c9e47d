import { expect, test } from 'vitest';
import { settingsFrom } from './settings.ts';

test('a run does not keep the paths of programs, which belong to the machine', () => {
  const agent = { claudePath: '/bin/claude', codexPath: '/bin/codex', model: 'opus' };
  const kept = settingsFrom({ agent }).agent;
  expect(kept).toMatchObject({ model: 'opus' });
  expect(kept).not.toHaveProperty('claudePath');
  expect(kept).not.toHaveProperty('codexPath');
});
