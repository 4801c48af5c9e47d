import type { BenchCase } from '../frame/case.ts';
import { raymond } from '../frame/orchestrator.ts';
import { project } from '../frame/project.ts';
import { timed } from '../frame/timed.ts';
import { peakMemoryMb } from '../frame/watch-process.ts';

/** A program that formats its lines, as a build or a test does. `yes` would write gigabytes in a second. */
const SCRIPT = `awk 'BEGIN { for (n = 1; n <= 850000; n++) printf "%06d: a line as a build or a test prints it, with a number.\\n", n }'
echo '<result>done</result>'
`;

export const scriptOutput: BenchCase = {
  name: 'script-output',
  title: '50 MB of script output',
  floor: 'script and `cat`',
  unit: 'ms',
  limits: 'ratio',
  target: 2.5,
  comparable: true,
  prepare({ folder }) {
    const flow = project(folder, { 'START.sh': SCRIPT });
    return {
      floor: () => timed('/bin/bash', ['-c', '/bin/bash START.sh | cat >out'], flow),
      ours: (orchestrator) => orchestrator.run({ project: flow, workflow: '.' }),
    };
  },
};

export const scriptOutputMemory: BenchCase = {
  name: 'script-output-memory',
  title: '50 MB of script output, peak memory',
  floor: 'a run without output',
  unit: 'MB',
  limits: 'value',
  target: 120,
  comparable: true,
  rounds: 3,
  prepare({ folder }) {
    const silent = project(folder, { 'START.sh': `echo '<result>done</result>'\n` });
    const flow = project(folder, { 'START.sh': SCRIPT });
    return {
      floor: () => peakMemoryMb(raymond.start({ project: silent, workflow: '.' })),
      ours: (orchestrator) => peakMemoryMb(orchestrator.start({ project: flow, workflow: '.' })),
    };
  },
};
