// Kills and resumes Raymond for as long as you like: npm run torture -- --rounds 200 --seed 1
// Each round has a seed of its own, which is named when the round fails.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kills: { type: 'string', default: '30' },
  },
});

const { torture, undisturbedEnding, VICTIMS } = await loadTorture();
const expected = await undisturbedEnding();
const first = Number(values.seed);
for (let seed = first; seed < first + Number(values.rounds); seed++) {
  for (const victims of VICTIMS) {
    const counts = await torture({ seed, kills: Number(values.kills), victims }, expected);
    console.log(`seed ${seed}, ${victims}: the same ending after ${JSON.stringify(counts)}`);
  }
}

/** It is written in TypeScript, and shared with the test suite. */
async function loadTorture() {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-torture-'));
  const outfile = join(folder, 'torture.mjs');
  try {
    await build({
      absWorkingDir: root,
      entryPoints: ['test/crash/torture.ts'],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      define: { 'import.meta.dirname': JSON.stringify(join(root, 'test')) },
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
