import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod/mini';
import { readSealed, runSealKey, stepSeals, writeSealed } from './step-seals.ts';

const KEY = Buffer.alloc(32, 1);
const schema = z.object({ text: z.optional(z.string()) });

function place() {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-seals-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, file: join(folder, 'steps/main/1/turn.json') };
}

test.each([{ text: 'ü, "quoted"' }, {}])('another process of the run reads %j', (value) => {
  const { folder, file } = place();
  expect(readSealed(stepSeals(folder, KEY), file, schema)).toBeUndefined();
  writeSealed(stepSeals(folder, KEY), file, value);
  expect(readSealed(stepSeals(folder, KEY), file, schema)).toEqual(value);
});

const text = (file: string) => readFileSync(file, 'utf8');

test.each<[string, (file: string) => void]>([
  ['changed', (file) => writeFileSync(file, text(file).replace('ours', 'theirs'))],
  ['without its seal', (file) => writeFileSync(file, '{"text":"ours"}')],
  ['cut off', (file) => writeFileSync(file, text(file).slice(0, 20))],
  ['empty', (file) => writeFileSync(file, '')],
])('a file that is %s is foreign', (_, act) => {
  const { folder, file } = place();
  const seals = stepSeals(folder, KEY);
  writeSealed(seals, file, { text: 'ours' });
  act(file);
  expect(readSealed(seals, file, schema)).toBe('foreign');
});

test('a seal is valid only in its file, and only in its run', () => {
  const { folder, file } = place();
  const [first, later] = [1, 2].map((startedAt) => runSealKey(KEY, 'r', startedAt));
  writeSealed(stepSeals(folder, first), file, { text: 'ours' });
  const other = join(folder, 'steps/main/2/turn.json');
  writeSealed(stepSeals(folder, first), other, {});
  writeFileSync(other, text(file));
  expect(readSealed(stepSeals(folder, first), other, schema)).toBe('foreign');
  expect(readSealed(stepSeals(folder, later), file, schema)).toBe('foreign');
  expect(readSealed(stepSeals(folder), file, schema)).toBe('foreign');
});

test('nothing is written through a link in the place of the draft', () => {
  const { folder, file } = place();
  const seals = stepSeals(folder, KEY);
  writeSealed(seals, file, {});
  const mine = join(dirname(file), 'mine');
  writeFileSync(mine, 'mine');
  symlinkSync(mine, `${file}.new`);
  writeSealed(seals, file, { text: 'ours' });
  expect([text(mine), readSealed(seals, file, schema)]).toEqual(['mine', { text: 'ours' }]);
});
