import type { BenchCase, Measures } from '../frame/case.ts';
import { type Orchestrator, raymond } from '../frame/orchestrator.ts';
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

/**
 * The fixed part of a run of scripts: its start, its end, and the extra work of the first steps. It is the
 * beginning of a line that fits the times of runs of different lengths.
 */
export const scriptFixed: BenchCase = {
  name: 'script-fixed',
  title: 'what a run takes besides its steps: a line through runs of 1 to 3,000 script steps',
  floor: '`node -e 0`',
  unit: 'ms',
  limits: 'ratio',
  target: 4,
  comparable: true,
  rounds: 3,
  prepare: ({ folder }) => {
    const flow = transitions(folder);
    // The least of all rounds for each length, because the longest run would decide about the line alone.
    const least = new Map<Orchestrator, Map<number, number>>();
    return {
      floor: () => timed(process.execPath, ['-e', '0'], flow, { NODE_EXTRA_CA_CERTS: '' }),
      ours: (orchestrator) => {
        const own = least.get(orchestrator) ?? new Map<number, number>();
        least.set(orchestrator, own);
        for (const steps of LENGTHS) {
          const ms = wholeRun(orchestrator, flow, steps, ['--no-debug']);
          own.set(steps, Math.min(ms, own.get(steps) ?? ms));
        }
        return fixedPart([...own]);
      },
    };
  },
};

const LENGTHS = [1, 100, 300, 1000, 3000];

/** Where the line begins. Errors grow with the length of a run, so a point weighs less if it is far out. */
function fixedPart(points: readonly (readonly [number, number])[]): number {
  let [weights, xs, ys, xxs, xys] = [0, 0, 0, 0, 0];
  for (const [x, y] of points) {
    const weight = 1 / y ** 2;
    weights += weight;
    xs += weight * x;
    ys += weight * y;
    xxs += weight * x * x;
    xys += weight * x * y;
  }
  return (ys * xxs - xs * xys) / (weights * xxs - xs * xs);
}

/**
 * What the kernel enforces costs something for each process. Decision 87 says why the goal of 1.6 times cannot be
 * reached. This only shows when it gets slower.
 */
export const confinedTransition: BenchCase = {
  name: 'confined-transition',
  title: 'script transition with rights, without a network',
  floor: 'the same without rights',
  unit: 'ms',
  limits: 'ratio',
  target: 4.5,
  comparable: false,
  prepare: ({ folder }) => {
    const flow = transitions(folder);
    return {
      floor: () => perTransition(raymond, flow, STEPS, ['--no-debug']),
      ours: () => perTransition(raymond, flow, STEPS, ['--no-debug', '--rights', NO_NETWORK]),
    };
  },
};

export const confinedStart: BenchCase = {
  name: 'confined-start',
  title: 'script transition with rights and a network, more than without rights',
  floor: 'a transition without rights',
  unit: 'ms',
  limits: 'value',
  target: 500,
  comparable: false,
  rounds: 3,
  prepare: ({ folder }) => {
    const flow = transitions(folder);
    const without = () => perTransition(raymond, flow, FEW_STEPS, ['--no-debug']);
    const options = ['--no-debug', '--rights', A_HOST];
    return {
      floor: without,
      ours: () => perTransition(raymond, flow, FEW_STEPS, options) - without(),
    };
  },
};

const FEW_STEPS = 6;
const NO_NETWORK = '{ network: none }';
const A_HOST = '{ network: [host.example] }';

function measures(folder: string, option: string): Measures {
  const flow = transitions(folder);
  const loop = `for ((i = 0; i < ${STEPS}; i++)); do /bin/bash START.sh >out; done`;
  return {
    floor: () => timed('/bin/bash', ['-c', loop], flow, { STEPS: `${STEPS}` }) / STEPS,
    ours: (orchestrator) => perTransition(orchestrator, flow, STEPS, [option]),
  };
}

const transitions = (folder: string) =>
  project(folder, {
    'START.sh': `read -r n <n 2>/dev/null || n=0
n=$((n + 1)); echo $n >n
if [ $n -lt "$STEPS" ]; then echo '<reset>START</reset>'; else rm n; echo '<result>done</result>'; fi
`,
  });

/** A run of one step has the same start and end, so the difference is what the transitions cost. */
function perTransition(
  orchestrator: Orchestrator,
  flow: string,
  most: number,
  options: readonly string[],
): number {
  const run = (steps: number) => wholeRun(orchestrator, flow, steps, options);
  return (run(most) - run(1)) / (most - 1);
}

function wholeRun(
  orchestrator: Orchestrator,
  project: string,
  steps: number,
  options: readonly string[],
): number {
  return orchestrator.run({ project, workflow: '.', environment: { STEPS: steps }, options });
}
