// Kills and resumes Raymond repeatedly: npm run torture -- --rounds 200 --seed 1
// Each round has its own seed, which is printed when the round fails.
import { parseArgs } from 'node:util';
import { importTypeScript } from './typescript-of-tests.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kills: { type: 'string', default: '30' },
  },
});

const { torture, undisturbedEnding, VICTIMS } = await importTypeScript('test/crash/torture.ts');
const expected = await undisturbedEnding();
const first = Number(values.seed);
for (let seed = first; seed < first + Number(values.rounds); seed++) {
  for (const victims of VICTIMS) {
    const counts = await torture({ seed, kills: Number(values.kills), victims }, expected);
    console.log(`seed ${seed}, ${victims}: the same ending after ${JSON.stringify(counts)}`);
  }
}
