import { runToSee } from '../runs.ts';
import type { Here } from '../surroundings.ts';
import { stdout } from '../terminal.ts';

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
  if (!options.plain && !options.json && stdout.canRedraw())
    return (await import('../watch-in-view.ts')).watchInView(around, id);
  return (await import('./logs.ts')).logs(here, id, { ...options, follow: true });
}
