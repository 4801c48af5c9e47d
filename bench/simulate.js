// Says how much one PostgreSQL carries: npm run simulate. See docs/guide/many-machines.md.
import { importTypeScript } from '../scripts/typescript-of-tests.js';

const { simulate } = await importTypeScript('bench/simulation/simulate.ts');
try {
  process.exitCode = await simulate(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}
