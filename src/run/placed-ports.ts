import type { Located } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import type { Executor, Executors, FileHistory, Ground, RunPlace, Worktrees } from '../ports.ts';
import type { StepsPorts } from './steps.ts';

type Placed = Pick<StepsPorts, 'executors' | 'ground' | 'worktrees' | 'files'>;

/**
 * Translates between the paths of a run and those of this machine. The workflows that the run has read
 * are identified by their content, so their paths and times do not matter.
 */
export function placedPorts<P extends Placed>(ports: P, place: RunPlace, run: () => Run): P {
  const { executors, ground, worktrees, files } = ports;
  return {
    ...ports,
    place,
    executors: placedExecutors(executors, place),
    ground: placedGround(ground, place, run),
    ...(files && { files: placedFiles(files, place) }),
    ...(worktrees && { worktrees: REFUSED }),
  };
}

function placedExecutors<E extends Executors>(executors: E, place: RunPlace): E {
  const placed = (executor: Executor): Executor => ({
    ...executor,
    start: (step, ...more) => executor.start({ ...step, cwd: place.toLocal(step.cwd) }, ...more),
    adopt: (step, ...more) => executor.adopt({ ...step, cwd: place.toLocal(step.cwd) }, ...more),
    ...(executor.prepare && {
      prepare: (step) => executor.prepare?.({ ...step, cwd: place.toLocal(step.cwd) }),
    }),
  });
  const { prompt, script } = executors;
  return {
    ...executors,
    script: placed(script),
    prompt:
      'start' in prompt
        ? placed(prompt)
        : new Map([...prompt].map(([name, executor]) => [name, placed(executor)])),
  };
}

function placedGround(ground: Ground, place: RunPlace, run: () => Run): Ground {
  const { keepFiles } = ground;
  return {
    ...ground,
    async findDirectory(path, from) {
      const found = await ground.findDirectory(place.toLocal(path), place.toLocal(from));
      return found.found && found.path !== undefined
        ? { ...found, path: place.toRun(found.path) }
        : found;
    },
    async lookAtWorkflow(ref) {
      if (!run().workflowFiles.get(ref)) return ground.lookAtWorkflow(ref);
      return { inProject: place.toLocal(ref) !== ref, unchanged: true };
    },
    ...(keepFiles && {
      keepFiles: (paths, from, whose) => keepFiles(paths, place.toLocal(from), whose),
    }),
    entryDigest: (input, directory) => ground.entryDigest(input, place.toLocal(directory)),
  };
}

function placedFiles(files: FileHistory, place: RunPlace): FileHistory {
  return {
    rootOf(directory) {
      const root = files.rootOf(place.toLocal(directory));
      return root === undefined ? undefined : place.toRun(root);
    },
    record: (root, goal) => files.record(place.toLocal(root), goal),
    restore: (root, tree) => files.restore(place.toLocal(root), tree),
  };
}

const NO_WORKTREES: Located<never> = {
  found: false,
  problem:
    'A run whose files travel through a remote has no worktrees. Start it in a shared directory, with --shared-directory.',
};

const REFUSED: Worktrees = {
  find: async () => NO_WORKTREES,
  make: () => ({ done: Promise.resolve(NO_WORKTREES.problem), stop: () => {} }),
  look: async () => {
    throw new Error(NO_WORKTREES.problem);
  },
  remove: async () => NO_WORKTREES.problem,
};
