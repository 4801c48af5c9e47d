import { runToSee } from '../../app/find-run.ts';
import { look } from '../../app/look.ts';
import { stop } from '../../app/stop.ts';
import { attendRun } from '../../host/attend-run.ts';
import { conditionOf } from '../../model/condition.ts';
import { messageOf } from '../../model/message-of.ts';
import { shellWord } from '../../model/shell-word.ts';
import { time } from '../../observe/words.ts';
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
  const { owner, found } = await look(around, id);
  const { run } = found;
  const { attendantAtTerminal } = await import('../terminal/attendant.ts');
  const attendant = attendantAtTerminal({
    ...{ around, id, clock, isLive: false, options: {}, isWatched: true, known: run.seq },
    mayAnswer: owner !== undefined && !(await world.isInside(id)),
    isOver: !owner && (run.status.kind === 'ended' || conditionOf(found).kind === 'crashed'),
  });
  // As `raymond stop` does, which knows how to reach the owner of the run.
  const ask = (how: 'drain' | 'now') =>
    void stop(around, id, how).catch((error: unknown) => attendant.warn(messageOf(error)));
  const attended = await attendRun(
    { store, clock, id, from: 1, known: run.seq, userName: userName() },
    {
      ...attendant,
      stops: (act) => attendant.stops((how) => (how === 'leave' ? act(how) : ask(how))),
    },
  );
  sayLastWords(attended.found);
  return 0;
}

function sayLastWords(found: StoredRun): void {
  const { id, run } = found;
  const word = shellWord(id);
  if (run.status.kind === 'ended') return;
  if (conditionOf(found).kind !== 'crashed') {
    stdout.offer(`${id} continues. To watch it again: raymond watch ${word}`);
    return;
  }
  const last = time(run.updatedAt, Date.now());
  stdout.say(`${id} has crashed: its process ended without finishing the run.`);
  stdout.say(`Its last record is from ${last}. It was working on ${interrupted(found)}.`);
  stdout.say('Finished steps are kept, and a resume adopts or repeats the others.');
  stdout.offer(`To continue: raymond resume ${word}`);
  stdout.offer(`To read what happened: raymond logs ${word}`);
}

function interrupted({ run }: StoredRun): string {
  const steps = [...run.agents].flatMap(([id, { status }]) =>
    status.kind === 'running' ? [`${id}:${status.step} ${status.state}`] : [],
  );
  if (steps.length === 0) return 'no step';
  const more = steps.length > MOST_NAMED ? ` and ${steps.length - MOST_NAMED} more` : '';
  return `${steps.slice(0, MOST_NAMED).join(', ')}${more}`;
}

const MOST_NAMED = 3;
