import { spawn } from 'node:child_process';
import type { BenchCase } from '../frame/case.ts';
import { raymond } from '../frame/orchestrator.ts';
import { project } from '../frame/project.ts';
import { peakMemoryMb } from '../frame/watch-process.ts';

/** Starts `AGENTS` agents, each of which takes `STATES` states. */
const FLOW = {
  'START.sh': `for ((i = 1; i < AGENTS; i++)); do echo '<fork>WORK</fork>'; done; echo '<goto>WORK</goto>'\n`,
  'WORK.sh': `n=$((\${RAYMOND_RESULT:-0} + 1))
if [ $n -lt "$STATES" ]; then echo "<goto input='$n'>WORK</goto>"; else echo '<result>ok</result>'; fi
`,
};

export const agentsOrStates: BenchCase = {
  name: 'agents-or-states',
  title: '200 agents of 5 script states',
  floor: '1 agent of 1,000 script states',
  unit: 'ms',
  limits: 'ratio',
  target: 0.6,
  comparable: true,
  rounds: 2,
  prepare({ folder }) {
    const flow = project(folder, FLOW);
    const [one, many] = [
      { AGENTS: 1, STATES: 1000 },
      { AGENTS: 200, STATES: 5 },
    ];
    return {
      floor: () => raymond.run({ project: flow, workflow: '.', environment: one }),
      ours: (orchestrator) => orchestrator.run({ project: flow, workflow: '.', environment: many }),
    };
  },
};

export const memoryOfAgents: readonly BenchCase[] = [memoryOf(100, 3), memoryOf(1000, 5)];

function memoryOf(agents: number, target: number): BenchCase {
  return {
    name: `memory-${agents}-agents`,
    title: `${agents} agents, peak memory`,
    floor: 'bare Node',
    unit: 'MB',
    limits: 'ratio',
    target,
    comparable: true,
    rounds: 2,
    prepare({ folder }) {
      const flow = project(folder, FLOW);
      return {
        // Long enough that its memory can be read.
        floor: () => peakMemoryMb(spawn(process.execPath, ['-e', 'setTimeout(() => {}, 50)'])),
        ours: (orchestrator) =>
          peakMemoryMb(
            orchestrator.start({
              project: flow,
              workflow: '.',
              environment: { AGENTS: agents, STATES: 1 },
            }),
          ),
      };
    },
  };
}
