/** Runs in files. This process or a background process on this machine works on them. */
import { dirname } from 'node:path';
import type { Run } from '../model/run.ts';
import type { RunStore } from '../ports.ts';
import type { Surroundings } from './surroundings.ts';
import type { World } from './world.ts';

/** Most commands need only the store, so everything else is loaded when needed. */
export function here(store: RunStore, around: () => Surroundings): World {
  const lostTrees: World['lostTrees'] = async (run) =>
    (await import('../execute/git/lost-trees.ts')).lostTrees(run);
  return {
    store,
    connect: async () => {},
    close: async () => {},
    steps: async () => (await import('./wire.ts')).stepReaderOf(around()),
    files: async (run) => (await import('./wire.ts')).filesOf(around(), run),
    async sources(run) {
      const { archive, hasArchives, source } = around().workspace(run.id);
      if (!hasArchives()) return undefined;
      return { archive, expected: (ref) => run.workflowFiles.get(ref), folder: source };
    },
    async branchSessions(from, to, sessions) {
      const { copyNotes } = await import('../execute/steps/kept-notes.ts');
      const { workspace, processes } = around();
      const notesOf = async ({ id, startedAt }: Run) => ({
        folder: workspace(id).sessions,
        seals: (await processes(id, startedAt)).seals,
      });
      copyNotes(await notesOf(from), await notesOf(to), sessions);
    },
    keepsSources: false,
    lostTrees,
    countLost: async (trees) => (await import('../execute/git/lost-trees.ts')).countLost(trees),
    isInside: async (run) => (await around().processes(run)).includeThisProcess(),
    async stop(run, how, owner) {
      const { pid, started } = owner;
      await store.mailbox(run).post({ kind: 'stop', how, pid, started });
      const { drain, stopNow } = await import('./stop-here.ts');
      return () => (how === 'now' ? stopNow : drain)(around(), run, owner);
    },
    workers: async () => undefined,
    occasions: async () => (await import('./stored-runs.ts')).storedOccasions(around()),
    shareTriggers: async () => {},
    forget: async () => [],
    async carried() {
      await around().makeProject();
      return undefined;
    },
    async tidy(run) {
      const { workspace, processes } = around();
      const { unknownSteps, setAside } = workspace(run.id);
      // Ends processes of steps that the journal does not know, and moves their files aside.
      const lost = await unknownSteps(run);
      if (lost.length > 0) await (await processes(run.id)).endSteps(lost);
      for (const step of lost) await setAside(step);
      return lostTrees(run);
    },
    async prepare(intended) {
      const { prepareHere } = await import('./carry-here.ts');
      return prepareHere(around(), intended, dirname(around().project.folder));
    },
    async inBackground(run, command, notice) {
      await around().makeProject();
      const { startInBackground } = await import('./background.ts');
      return startInBackground(around(), run, command, notice);
    },
  };
}
