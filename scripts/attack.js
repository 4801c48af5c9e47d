// Runs the attacks that Raymond must withstand, and prints the observed results: npm run attack
import { importTypeScript } from './typescript-of-tests.js';

const { ATTACKS, playAttack } = await importTypeScript('test/attack/attacks.ts');
const width = Math.max(...ATTACKS.map(({ name }) => name.length));

let failed = 0;
for (const attack of ATTACKS) {
  const { name, expected, seen } = await playAttack(attack);
  if (seen !== expected) failed++;
  const mark = seen === expected ? 'ok  ' : 'FAIL';
  console.log(`${mark}  ${name.padEnd(width)}  expected: ${expected}; observed: ${seen}`);
}
console.log(`${ATTACKS.length - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
