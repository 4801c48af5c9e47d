import type { LaunchedRun } from '../../app/start.ts';
import { NO_WORKER } from '../../host/follow-run.ts';
import { shellWord } from '../../model/shell-word.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';

/** Prints the id of a run that continues without this command, and how to steer it. */
export async function announce(
  { store }: Pick<Surroundings, 'store'>,
  { id, carrier, options: { json, quiet } }: LaunchedRun,
): Promise<number> {
  if (carrier.kind === 'nobody') return 0;
  const { pid, log } = carrier.kind === 'process' ? carrier : { pid: null, log: null };
  if (json) stdout.json({ workflow_id: id, pid, log });
  else stdout.say(id);
  const name = shellWord(id);
  const steering = [
    carrier.kind === 'process'
      ? `${id} runs in the background (pid ${pid}).`
      : `Workers of the database execute ${id}.`,
    `To watch it: raymond watch ${name}`,
    `To answer its questions: raymond answer ${name}`,
    `To stop it: raymond stop ${name}`,
  ];
  if (!json && !quiet) for (const line of steering) stderr.offer(line);
  if ((await store.owner(id).catch(() => undefined))?.isAwaited) stderr.say(NO_WORKER);
  return 0;
}
