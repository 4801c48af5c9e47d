import type { BenchCase, Measures } from '../frame/case.ts';
import { project } from '../frame/project.ts';
import { timed } from '../frame/timed.ts';

const STEPS = 300;

export const scriptTransition: BenchCase = {
  name: 'script-transition',
  title: 'script transition, 300 by reset, journal synced, debug folder on',
  ...transition(1.9, 1.5, '--debug'),
};

export const scriptTransitionNoDebug: BenchCase = {
  name: 'script-transition-no-debug',
  title: 'the same, debug folder off',
  ...transition(1.7, 1.3, '--no-debug'),
};

function transition(target: number, aim: number, option: string) {
  const limits = { unit: 'ms', limits: 'ratio', target, aim } as const;
  return {
    floor: 'the same script in a shell loop',
    ...limits,
    comparable: true,
    prepare: ({ folder }: { folder: string }) => measures(folder, option),
  };
}

/** A run of one step has the same start and end, so the difference is what the transitions cost. */
function measures(folder: string, option: string): Measures {
  const flow = project(folder, {
    'START.sh': `read -r n <n 2>/dev/null || n=0
n=$((n + 1)); echo $n >n
if [ $n -lt "$STEPS" ]; then echo '<reset>START</reset>'; else rm n; echo '<result>done</result>'; fi
`,
  });
  const loop = `for ((i = 0; i < ${STEPS}; i++)); do /bin/bash START.sh >out; done`;
  return {
    floor: () => timed('/bin/bash', ['-c', loop], flow, { STEPS: `${STEPS}` }) / STEPS,
    ours(orchestrator) {
      const run = (steps: number) =>
        orchestrator.run({
          project: flow,
          workflow: '.',
          environment: { STEPS: steps },
          options: [option],
        });
      return (run(STEPS) - run(1)) / (STEPS - 1);
    },
  };
}
