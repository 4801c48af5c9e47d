import { runToSee, statusOf } from '../../app/find-run.ts';
import { look } from '../../app/look.ts';
import { attendRun } from '../../host/attend-run.ts';
import { shellWord } from '../../model/shell-word.ts';
import type { StoredRun } from '../../ports.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { userName } from '../../world/user-name.ts';
import { stdout } from '../terminal/terminal.ts';

export interface WatchOptions {
  readonly plain?: boolean;
  readonly json?: boolean;
}

/** Shows a run of another process until it ends. Without a name, the newest one that runs. */
export async function watch(
  here: Here,
  name: string | undefined,
  options: WatchOptions,
): Promise<number> {
  const around = await here();
  const id = await runToSee(around.store, name, ({ owner }) => owner !== undefined);
  if (!options.plain && !options.json && stdout.canRedraw()) return watchInView(around, id);
  return (await import('./logs.ts')).logs(here, id, { ...options, follow: true });
}

/** Returns when the run has ended, when its process no longer exists, or when the user leaves. */
async function watchInView(around: Surroundings, id: string): Promise<number> {
  const { store, clock, world } = around;
  const {
    owner,
    found: { run },
  } = await look(around, id);
  const { attendantAtTerminal } = await import('../terminal/attendant.ts');
  const attendant = attendantAtTerminal({
    ...{ around, id, clock, isLive: false, options: {}, isWatched: true, known: run.seq },
    mayAnswer: owner !== undefined && !(await world.isInside(id)),
    isOver: run.status.kind === 'ended' && owner === undefined,
  });
  const attended = await attendRun(
    { store, clock, id, from: 1, known: run.seq, userName: userName() },
    attendant,
  );
  for (const line of lastWords(attended.found)) stdout.offer(line);
  return 0;
}

function lastWords(found: StoredRun): readonly string[] {
  const { id, run, owner } = found;
  if (run.status.kind === 'ended') return [];
  return owner
    ? [`${id} continues. To watch it again: raymond watch ${shellWord(id)}`]
    : [
        `${id}: ${statusOf(found)}. Its process no longer exists. To continue: raymond resume ${shellWord(id)}`,
      ];
}
