import type { BenchCase } from '../frame/case.ts';
import { raymond } from '../frame/orchestrator.ts';
import { project } from '../frame/project.ts';

const HALF_A_SECOND = 500;

export const scriptAgents: BenchCase = {
  name: 'script-workers', // Older results have this name.
  title: '50 agents with a script of 0.5 s',
  floor: '0.5 s and a run of one step',
  unit: 'ms',
  limits: 'ratio',
  target: 1.3,
  comparable: true,
  prepare({ folder }) {
    const all = project(folder, {
      'START.sh': `for ((i = 0; i < 50; i++)); do echo '<fork>WORK</fork>'; done; echo '<goto>LAST</goto>'\n`,
      'WORK.sh': `sleep 0.5; echo '<result>ok</result>'\n`,
      'LAST.sh': `echo '<result>ok</result>'\n`,
    });
    const one = project(folder, { 'START.sh': `echo '<result>ok</result>'\n` });
    return {
      floor: () => HALF_A_SECOND + raymond.run({ project: one, workflow: '.' }),
      ours: (orchestrator) => orchestrator.run({ project: all, workflow: '.' }),
    };
  },
};
