/** The runs that triggers start: each in a process of its own, or executed by workers. */
import { allRuns } from '../look/all-runs.ts';
import { type Condition, conditionOf, isCutOff } from '../model/condition.ts';
import type { Door } from '../model/notice.ts';
import { startedByOf } from '../model/trigger.ts';
import { UserError } from '../model/user-error.ts';
import type { LookedAtRun } from '../ports.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { relaunch } from './resume.ts';
import { launch } from './start.ts';
import { stop } from './stop.ts';
import type { Standing, TriggeredRuns } from './trigger-turn.ts';

export interface OwnTriggeredRuns extends TriggeredRuns {
  /** Continues all own runs that a crash or a shutdown has left. */
  resumeAll(): Promise<void>;
}

export function triggeredRuns(
  around: Surroundings,
  door: Door,
  log: (text: string) => void,
): OwnTriggeredRuns {
  const { store, clock } = around;
  /** One that crashes again needs a person. */
  const resumed = new Set<string>();
  const resume = async (id: string) => {
    if (resumed.has(id)) return;
    resumed.add(id);
    const found = await store.look(id);
    const why = found.kind === 'stored' ? WHY[conditionOf(found).kind] : undefined;
    await relaunch(around, id, {}, door).then(
      () => log(`Resumed ${id}, which ${why ?? WHY.crashed}`),
      (error) => {
        if (!(error instanceof UserError)) throw error;
        log(`Cannot resume ${id}: ${error.message} ${error.remedy}`);
      },
    );
  };
  return {
    resume,
    async standing(id) {
      // First the owner, which may write the first event at any time.
      const owner = await store.owner(id);
      const standing = standingOf(await store.look(id), clock.now());
      return standing === 'none' && owner ? 'beginning' : standing;
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
      // The others were stopped by a person or a limit, or wait for a person.
      for (const found of await allRuns(store))
        if (found.kind === 'stored' && found.isOwn && isCutOff(found)) await resume(found.id);
    },
  };
}

const WHY: Partial<Record<Condition['kind'], string>> = {
  crashed: 'had crashed',
  stopped: 'a shutdown had stopped',
};

export function standingOf(found: LookedAtRun, now: number): Standing {
  if (found.kind === 'damaged') return NOT_BEGUN.includes(found.problem.code) ? 'none' : 'failed';
  const condition = conditionOf(found);
  switch (condition.kind) {
    case 'completed':
      return 'completed';
    case 'failed':
    case 'interrupted':
    case 'paused':
      return 'failed';
    case 'stopped':
      if (!found.isOwn || !isCutOff(found)) return 'failed';
      // In a shutdown, this process ends as well, and the next one continues the run.
      // A clock may have been set back since then.
      return Math.abs(now - found.run.updatedAt) > SHUTDOWN_MS ? 'crashed' : 'live';
    case 'crashed':
      return found.isOwn && isCutOff(found) ? 'crashed' : 'failed';
    case 'running':
    case 'stopping':
    case 'waiting':
      return 'live';
  }
}

/** A process that was killed early has left an empty journal, which the next one takes over. */
const NOT_BEGUN = ['no-run', 'journal-empty'];
const SHUTDOWN_MS = 20_000;
