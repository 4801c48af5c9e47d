import { expect, test } from 'vitest';
import type { Doing } from '../model/now.ts';
import { doingText } from './doing-text.ts';

const MAIN = { agent: 'main', step: 1 };

test.each<[Omit<Doing, 'agent' | 'step'>, string]>([
  [{}, ''],
  [{ tool: { at: 1, name: 'Bash', summary: 'npm test' } }, 'Bash npm test'],
  [{ words: { at: 1, text: 'I read.' } }, '"I read."'],
  [{ tool: { at: 1, name: 'Bash', summary: 'x' }, words: { at: 2, text: 'Done' } }, '"Done"'],
  [{ tool: { at: 3, name: 'Bash', summary: 'x' }, words: { at: 2, text: 'Done' } }, 'Bash x'],
  [{ words: { at: 2, text: 'Done' }, note: { at: 4, text: 'retries' } }, 'retries'],
])('%j is shown as %s', (doing, text) => {
  expect(doingText({ ...MAIN, ...doing })).toBe(text);
});

test('a forged publication is cleaned and shortened', () => {
  const text = doingText({ ...MAIN, words: { at: 1, text: `\x1b[2J\n\n  ${'x'.repeat(999)}` } });
  expect(text).toMatch(/^"\\x1b\[2J x{40,60}\.\.\.$/);
});
