import { join } from 'node:path';
import type { BenchCase } from '../frame/case.ts';
import { project } from '../frame/project.ts';
import { timed } from '../frame/timed.ts';

const bin = join(import.meta.dirname, '..', '..', 'bin', 'raymond.js');
/** Node reads these certificates at each start, so they would hide what Raymond takes. */
const LEAN = { NODE_EXTRA_CA_CERTS: '' };
const emptyStart = (folder: string) => timed(process.execPath, ['-e', '0'], folder, LEAN);

export const startHelp: BenchCase = startUp('start-help', '--help', 1.5);
export const startList: BenchCase = startUp('start-list', 'list', 2);

/** The whole life of the shortest run: start, one step, end. */
export const startRun: BenchCase = {
  name: 'start-run',
  title: 'a run of one script step',
  floor: '`node -e 0`',
  unit: 'ms',
  limits: 'ratio',
  target: 4,
  comparable: true,
  rounds: 15,
  prepare: ({ folder }) => {
    const flow = project(folder, { 'START.sh': `echo '<result>done</result>'\n` });
    return {
      floor: () => emptyStart(flow),
      ours: (orchestrator) => orchestrator.run({ project: flow, workflow: '.', environment: LEAN }),
    };
  },
};

function startUp(name: string, word: string, target: number): BenchCase {
  return {
    name,
    title: `\`raymond ${word}\``,
    floor: '`node -e 0`',
    unit: 'ms',
    limits: 'ratio',
    target,
    comparable: false,
    rounds: 15,
    prepare: ({ folder }) => ({
      floor: () => emptyStart(folder),
      ours: () => timed(process.execPath, [bin, word], folder, LEAN),
    }),
  };
}
