import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../journal/fixtures.ts';
import { isLong } from '../long.ts';

test('one process at a time holds a lock, even if some owners die', async () => {
  const folder = await temporaryFolder();
  const contender = join(folder, 'contender.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('../journal/lock-contender.ts', import.meta.url))],
    outfile: contender,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  const PROCESSES = 12;
  const TIMES = 3;
  const ROUNDS = isLong ? 3 : 1;
  for (let round = 1; round <= ROUNDS; round++) {
    const endings = Array.from({ length: PROCESSES }, async (_, i) => {
      const dies = i % 3 !== 0;
      const child = spawn(
        process.execPath,
        [contender, folder, String(TIMES), dies ? 'dies' : ''],
        {
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      );
      onTestFinished(() => void child.kill('SIGKILL'));
      const [code, signal] = await once(child, 'exit');
      return { code, signal };
    });
    const all = await Promise.all(endings);
    expect(all.filter(({ signal }) => signal === 'SIGKILL')).toHaveLength((PROCESSES * 2) / 3);
    expect(all.filter(({ code }) => code === 0)).toHaveLength(PROCESSES / 3);
  }
  const notes = (await readFile(join(folder, 'notes'), 'utf8')).trim().split('\n');
  expect(notes.filter((note) => note !== 'held')).toEqual([]);
  expect(notes).toHaveLength(ROUNDS * ((PROCESSES * 2) / 3 + (PROCESSES / 3) * TIMES));
});
