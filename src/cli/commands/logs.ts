import { changesOf } from '../../files/changes.ts';
import { beginning } from '../../journal/read-entries.ts';
import { readEvents } from '../../journal/read-journal.ts';
import type { RunEvent } from '../../model/event.ts';
import { condition, openRun } from '../runs.ts';
import { currentProject, disk, ownerOf } from '../store.ts';
import { stderr, stdout } from '../terminal.ts';
import { retelling } from './show.ts';

export interface LogsOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** What a run has reported; with `--follow`, on until nobody works on it. */
export async function logs(name: string, { follow, json }: LogsOptions): Promise<number> {
  const project = await currentProject();
  const { id, paths } = await openRun(project, name);
  const place = beginning();
  const retell = retelling();
  const print = (event: RunEvent) => {
    const line = retell(event);
    if (line) stdout.line(line);
  };
  const printNews = async () => {
    for await (const event of readEvents(disk, paths.journal, place))
      if (json) stdout.json(event);
      else print(event);
  };
  if (!follow) {
    await printNews();
    return 0;
  }
  const changes = changesOf(paths.journal, 1000);
  try {
    for (;;) {
      // In this order: what a process wrote before it ended is still read.
      const owner = await ownerOf(paths);
      await printNews();
      if (owner === undefined) break;
      await changes.next();
    }
  } finally {
    changes.close();
  }
  const found = await openRun(project, id);
  if (found.run.status.kind !== 'ended') stderr.say(`${id}: ${condition(found)}`);
  return 0;
}
