import { createHash } from 'node:crypto';
import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { stateNameSchema } from '../../model/state-name.ts';
import type { ScriptStep } from '../../ports.ts';
import { scriptComparison } from './changed-script.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'raymond-changed-'));
  writeFileSync(file(), TEXT);
});
afterEach(() => rmSync(folder, { recursive: true }));

const TEXT = 'echo one\n';
const file = () => join(folder, 'START.sh');
const later = () => Date.now() + 10_000;

const step = (): ScriptStep => ({
  ...{ kind: 'script', run: 'r', agent: 'main', number: 1, attempt: 1, workflow: folder },
  ...{ state: stateNameSchema.parse('START.sh'), cwd: folder, folder, environment: {} },
  ...{ idleTimeoutMs: 0, file: file(), interpreter: 'bash', input: undefined },
  sha256: createHash('sha256').update(TEXT).digest('hex'),
});

test('the same file is accepted every time', () => {
  const compare = scriptComparison(later);
  for (const _ of [1, 2, 3]) expect(compare(step())).toBeUndefined();
});

test.each<[string, () => void]>([
  ['of the same length', () => writeFileSync(file(), 'echo two\n')],
  ['by an append', () => appendFileSync(file(), 'x')],
  [
    'of the same length whose times are set back',
    () => {
      const { atime, mtime } = statSync(file());
      writeFileSync(file(), 'echo two\n');
      utimesSync(file(), atime, mtime);
    },
  ],
  [
    'by another file in its place',
    () => {
      const { atime, mtime } = statSync(file());
      writeFileSync(join(folder, 'new'), 'echo two\n');
      utimesSync(join(folder, 'new'), atime, mtime);
      renameSync(join(folder, 'new'), file());
    },
  ],
])('a change %s is noticed, also after the file was read', async (_, change) => {
  const compare = scriptComparison(later);
  expect(compare(step())).toBeUndefined();
  expect(compare(step())).toBeUndefined();
  const { ctimeMs } = statSync(file());
  // The times of a file do not change more often than the clock of the system ticks.
  do change();
  while (statSync(file()).ctimeMs === ctimeMs);
  expect(compare(step())).toContain('was changed after the run had read it');
});

test('a file that has just changed is read again, because its times may not show the next change', () => {
  const compare = scriptComparison(() => statSync(file()).ctimeMs + 1);
  expect(compare(step())).toBeUndefined();
  writeFileSync(file(), 'echo two\n');
  expect(compare(step())).toContain('was changed');
});

test('a file that is gone is refused; a run without sums accepts everything', () => {
  const compare = scriptComparison(later);
  rmSync(file());
  expect(compare(step())).toContain('can no longer be read');
  expect(compare({ ...step(), sha256: undefined })).toBeUndefined();
});
