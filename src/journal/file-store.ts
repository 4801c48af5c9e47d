/**
 * Runs as files under `.raymond`. The names of all runs and the index of unchanged ones are enough for
 * most lists. The code that reads single runs is loaded when the first one must be read.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, RunStore } from '../ports.ts';
import type { Disk } from './disk.ts';
import { fileCache } from './file-cache.ts';
import type { FileRuns } from './file-runs.ts';
import { laterRuns } from './later.ts';
import { listRuns } from './list-runs.ts';
import type { Project } from './project.ts';
import { INDEX } from './run-index.ts';
import { surveyRuns } from './survey.ts';
import type { UserKey } from './user-key.ts';

interface FileStoreParts {
  readonly disk: Disk;
  readonly project: Project;
  readonly key: UserKey;
  readonly clock: Pick<Clock, 'now'>;
  readonly runs: () => Promise<FileRuns>;
}

export function fileStore({ disk, project, key, clock, runs: load }: FileStoreParts): RunStore {
  const index = fileCache(disk, project.indexFile, INDEX, key);
  let loaded: Promise<FileRuns> | undefined;
  const runs = () => {
    loaded ??= load();
    return loaded;
  };
  const single = laterRuns(runs);
  const { owner } = single;
  const read: FileRuns['read'] = async (id) => (await runs()).read(id);
  return {
    ...single,
    list: () => listRuns(disk, project),
    survey: () => surveyRuns({ disk, project, index, key, now: clock.now(), read, owner }),
    // The end of a process changes no file, so to look is the only way.
    async *news(id, signal) {
      while (!signal.aborted) {
        await delay(id === undefined ? 1_000 : 500, undefined, { signal }).catch(() => {});
        if (!signal.aborted) yield;
      }
    },
    cache: (name) => fileCache(disk, project.cacheFile(name), name, key),
  };
}
