import { runToChange } from '../../app/find-run.ts';
import { reachText, say as sayTo } from '../../app/say.ts';
import { wrongUsage } from '../../options/wrong-usage.ts';
import type { Here } from '../../world/surroundings.ts';
import { stderr, stdout } from '../terminal/terminal.ts';
import { textFromStandardInput } from './answer-text.ts';

export interface SayOptions {
  readonly agent?: string;
  readonly json?: boolean;
}

/** Says something to an agent of a run, and reports what becomes of it. */
export async function say(
  here: Here,
  run: string,
  written: string | undefined,
  { agent, json }: SayOptions,
): Promise<number> {
  const around = await here();
  const id = await runToChange(around.store, run);
  if (written === undefined)
    throw wrongUsage(
      `Nothing was said to ${id}.`,
      `Write it after the run: raymond say ${id} "...", or use - to read it from standard input.`,
    );
  const text = written === '-' ? await textFromStandardInput() : written;
  const said = await sayTo(around, id, text, agent);
  if (json) stdout.json({ workflow_id: id, ...said });
  else if (said.reach !== 'saved') stderr.say(reachText(id, said));
  else stderr.offer(`${reachText(id, said)} To continue the run: raymond resume ${id}`);
  return 0;
}
