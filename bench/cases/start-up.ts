import { join } from 'node:path';
import type { BenchCase } from '../frame/case.ts';
import { timed } from '../frame/timed.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'raymond.js');

export const startHelp: BenchCase = startUp('start-help', '--help');
export const startList: BenchCase = startUp('start-list', 'list');

function startUp(name: string, word: string): BenchCase {
  return {
    name,
    title: `\`raymond ${word}\``,
    floor: '`node -e 0`',
    unit: 'ms',
    limits: 'ratio',
    target: 1.5,
    comparable: false,
    rounds: 15,
    prepare: ({ folder }) => ({
      floor: () => timed(process.execPath, ['-e', '0'], folder),
      ours: () => timed(process.execPath, [bin, word], folder),
    }),
  };
}
