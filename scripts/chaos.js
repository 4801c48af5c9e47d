// Disturbs workers and their database: npm run chaos -- --runs 40 --workers 3 --disturbances 60 --seed 1
import { parseArgs } from 'node:util';
import { importTypeScript } from './typescript-of-tests.js';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '40' },
    workers: { type: 'string', default: '3' },
    disturbances: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    lease: { type: 'string', default: '8' },
    verbose: { type: 'boolean', default: false },
  },
});

const { chaos } = await importTypeScript('test/fleet/chaos.ts');
console.log(`seed ${values.seed}`);
const figures = await chaos({
  runs: Number(values.runs),
  workers: Number(values.workers),
  disturbances: Number(values.disturbances),
  seed: Number(values.seed),
  leaseS: Number(values.lease),
  ...(values.verbose && { log: console.log }),
});
console.log(`Every run ended like an undisturbed one. ${JSON.stringify(figures)}`);
