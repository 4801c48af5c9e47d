/** The runs that triggers start: each in a process of its own, or executed by workers. */
import { allRuns } from '../look/all-runs.ts';
import { conditionOf } from '../model/condition.ts';
import type { Door } from '../model/notice.ts';
import { startedByOf } from '../model/trigger.ts';
import { UserError } from '../model/user-error.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { relaunch } from './resume.ts';
import { launch } from './start.ts';
import { stop } from './stop.ts';
import type { Standing, TriggeredRuns } from './trigger-turn.ts';

export interface OwnTriggeredRuns extends TriggeredRuns {
  /** Continues all own runs that a crash has left. */
  resumeAll(): Promise<void>;
}

export function triggeredRuns(
  around: Surroundings,
  door: Door,
  log: (text: string) => void,
): OwnTriggeredRuns {
  const { store } = around;
  /** One that crashes again needs a person. */
  const resumed = new Set<string>();
  const resume = async (id: string) => {
    if (resumed.has(id)) return;
    resumed.add(id);
    await relaunch(around, id, {}, door).then(
      () => log(`Resumed ${id}, which had crashed`),
      (error) => {
        if (!(error instanceof UserError)) throw error;
        log(`Cannot resume ${id}: ${error.message} ${error.remedy}`);
      },
    );
  };
  return {
    resume,
    async standing(id): Promise<Standing> {
      const found = await store.look(id);
      if (found.kind === 'damaged') return found.problem.code === 'no-run' ? 'none' : 'failed';
      const { kind } = conditionOf(found);
      switch (kind) {
        case 'completed':
          return 'completed';
        case 'failed':
        case 'interrupted':
        case 'paused':
        case 'stopped':
          return 'failed';
        case 'crashed':
          return found.isOwn ? 'crashed' : 'failed';
        case 'running':
        case 'stopping':
        case 'waiting':
          return 'live';
      }
    },
    async start(found, occasion, input) {
      const startedBy = startedByOf(occasion);
      const options = { workflowId: occasion.run, startedBy };
      await launch(around, found.path, { ...options, ...(input !== undefined && { input }) }, door);
    },
    async stop(id) {
      try {
        const stopping = await stop(around, id, 'now');
        if (stopping.kind === 'asked') await stopping.wait();
      } catch (error) {
        // No process works on it, for example because it waits for an answer.
        if (!(error instanceof UserError)) throw error;
      }
    },
    async resumeAll() {
      // The others were stopped by a person, or wait for one.
      for (const found of await allRuns(store))
        if (found.kind === 'stored' && found.isOwn && conditionOf(found).kind === 'crashed')
          await resume(found.id);
    },
  };
}
