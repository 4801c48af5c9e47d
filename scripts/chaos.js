// Disturbs workers and their database: npm run chaos -- --runs 40 --workers 3 --disturbances 60 --seed 1
// A distant database: npm run chaos -- --latency 200 --runs 4 --disturbances 4 --lease 60
// Bad weather instead: npm run chaos -- --weather, or only one kind: --weather=stall
import { parseArgs } from 'node:util';
import { importTypeScript } from './typescript-of-tests.js';

// Without a kind, --weather is all kinds.
const args = process.argv.slice(2).map((arg) => (arg === '--weather' ? '--weather=all' : arg));
const { values } = parseArgs({
  args,
  options: {
    runs: { type: 'string', default: '40' },
    workers: { type: 'string', default: '3' },
    disturbances: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    lease: { type: 'string', default: '8' },
    weather: { type: 'string' },
    latency: { type: 'string' },
    verbose: { type: 'boolean', default: false },
  },
});

const { chaos, WEATHERS } = await importTypeScript('test/fleet/chaos.ts');
console.log(`seed ${values.seed}`);
const named = values.weather ?? (values.latency && 'distance');
const kinds = named === 'all' ? WEATHERS : [named];
for (const weather of kinds) {
  if (weather !== undefined && !WEATHERS.includes(weather))
    throw new Error(`There is no weather ${weather}. Name one of ${WEATHERS.join(', ')}.`);
  const figures = await chaos({
    runs: Number(values.runs),
    workers: Number(values.workers),
    disturbances: Number(values.disturbances),
    seed: Number(values.seed),
    leaseS: Number(values.lease),
    ...(weather && { weather }),
    ...(values.latency && { latencyMs: Number(values.latency) }),
    ...(values.verbose && { log: console.log }),
  });
  const kind = weather === undefined ? '' : `${weather}: `;
  console.log(
    figures
      ? `${kind}Every run ended like an undisturbed one. ${JSON.stringify(figures)}`
      : `${kind}This machine cannot play it: install faketime, or run as root.`,
  );
}
