import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { transcriptsIn } from './transcripts.ts';

test('a transcript is found by the id of its session, in any directory, and never outside of them', () => {
  const folder = mkdtempSync(join(tmpdir(), 'raymond transcripts '));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const own = join(folder, 'projects', '-some-place');
  mkdirSync(own, { recursive: true });
  for (const file of [join(own, 'abc.jsonl'), join(folder, 'secret.jsonl')])
    writeFileSync(file, '');
  const { find } = transcriptsIn({ CLAUDE_CONFIG_DIR: folder });
  expect(find('abc', '/elsewhere')).toBe(join(own, 'abc.jsonl'));
  expect(find('../../secret', '/elsewhere')).toBeUndefined();
  expect(find('../../secret', '/elsewhere', own)).toBeUndefined();
});
