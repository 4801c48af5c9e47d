// Kills Raymond thousands of times and records what came of it: npm run proof -- --kills 10000 --minutes 60
// Continues where the last sitting ended. --game, which can be repeated, plays only
// the games that it names, so that several processes can share the work. --page only writes the page.

import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { importTypeScript } from './typescript-of-tests.js';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '10000' },
    minutes: { type: 'string', default: '60' },
    game: { type: 'string', multiple: true, default: [] },
    page: { type: 'boolean', default: false },
  },
});

const root = fileURLToPath(new URL('..', import.meta.url));
const { proofFiles, prove, writeProof } = await importTypeScript('test/crash/proof.ts');
const failed = values.page
  ? []
  : await prove({
      file: proofFiles(root).plays,
      kills: Number(values.kills),
      until: Date.now() + Number(values.minutes) * 60_000,
      games: values.game,
      say: console.log,
    });
writeProof(root);
if (failed.length > 0) process.exitCode = 1;
