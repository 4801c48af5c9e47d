import type { StepsPorts } from '../src/run/steps.ts';
import type { Stage } from './make-run.ts';

/** Ports for the steps of a run under test: its workflow, a ground on which every directory exists. */
export function stagePorts({
  workflows,
}: Pick<Stage, 'workflows'>): Pick<StepsPorts, 'library' | 'ground' | 'folders'> {
  return {
    library: {
      get: workflows,
      load: () => Promise.reject(new Error('none')),
      pathOf: (_ref, file) => file,
      filesOf: () => [],
      scriptFolder: async (ref) => ref,
    },
    ground: {
      findDirectory: async (path) => ({ found: true, path, inProject: true }),
      lookAtWorkflow: async () => ({ inProject: true, unchanged: true }),
      entryDigest: async (input) => `${input}`,
      environment: new Set(),
    },
    folders: {
      step: () => '/step',
      hasBegun: () => false,
      task: () => '/task',
      notes: { put: () => {}, read: () => undefined, remove: () => {}, digest: () => '' },
      put: () => {},
    },
  };
}
