// Measures the performance targets: npm run bench. See README.md in this folder.
import { importTypeScript } from '../scripts/typescript-of-tests.js';

const { bench } = await importTypeScript('bench/bench.ts');
try {
  process.exitCode = await bench(process.argv.slice(2));
} catch (error) {
  console.error(error.message);
  process.exitCode = 2;
}
