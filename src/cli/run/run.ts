import { launch, type StartOptions, start } from '../../app/start.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { Here } from '../../world/surroundings.ts';
import { stderr } from '../terminal/terminal.ts';
import { terminalDoor } from '../terminal/terminal-door.ts';
import { announce } from './announce.ts';
import { attendAtTerminal } from './attend-at-terminal.ts';

/** Starts a run of a workflow, and attends it until it ends. */
export async function run(
  here: Here,
  path: string | undefined,
  given: StartOptions,
): Promise<number> {
  if (path === undefined)
    throw wrongUsage('No workflow is named.', 'Name one. To see all commands: raymond --help');
  const around = await here();
  const door = terminalDoor(given);
  if (given.detach) return announce(around, await launch(around, path, given, door));
  const started = await start(around, path, given, door);
  const code = await attendAtTerminal(around, started);
  if (given.learnRights)
    await (await import('../look/show-rights.ts')).showRights(around, started.run.id, stderr);
  return code;
}
