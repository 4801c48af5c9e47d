import { changesOf } from '../../execute/process.ts';
import { readEvents } from '../../journal/read-journal.ts';
import { condition, openRun } from '../runs.ts';
import { currentProject, disk } from '../store.ts';
import { history } from './show.ts';

export interface LogsOptions {
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** What a run has reported; with `--follow`, on until it ends. */
export async function logs(name: string, { follow, json }: LogsOptions): Promise<number> {
  const project = await currentProject();
  const { id, paths } = await openRun(project, name);
  const lines = () => (json ? jsonLines(paths.journal) : history({ paths }));
  let shown = await print(lines(), 0);
  if (!follow) return 0;
  const changes = changesOf(paths.journal, 1000);
  try {
    for (;;) {
      const { pid, run } = await openRun(project, id);
      shown = await print(lines(), shown);
      if (pid === undefined) {
        if (run.status.kind !== 'ended')
          process.stderr.write(`${id}: ${condition({ id, paths, pid, run })}\n`);
        return 0;
      }
      await changes.next();
    }
  } finally {
    changes.close();
  }
}

async function print(lines: AsyncIterable<string>, skip: number): Promise<number> {
  let number = 0;
  for await (const line of lines) if (++number > skip) process.stdout.write(line);
  return number;
}

async function* jsonLines(journal: string): AsyncGenerator<string> {
  for await (const event of readEvents(disk, journal)) yield `${JSON.stringify(event)}\n`;
}
