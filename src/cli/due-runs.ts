import type { Project } from '../journal/project.ts';
import { time } from '../observe/words.ts';
import { type Question, questionsOf } from './questions.ts';
import { condition, type FoundRun, openRun } from './runs.ts';
import { clock, disk } from './store.ts';

/**
 * Gives those of the named runs that wait for an answer, each when there is one or its deadline has
 * passed, until there is nothing left to wait for. Runs may be added meanwhile.
 */
export async function* dueRuns(
  project: Project,
  waiting: Set<string>,
  options: { readonly wait?: boolean; readonly say: (line: string) => void },
): AsyncGenerator<FoundRun> {
  let said = '';
  while (true) {
    const runs = await stillWaiting(project, waiting);
    const due = runs.find(isDue);
    if (due) {
      waiting.delete(due.id);
      yield due;
      continue;
    }
    const patient = runs.filter(({ run }) => options.wait ?? run.settings.wait);
    const waits = patient.flatMap(waitOf).sort((a, b) => a.until - b.until);
    const [next] = waits;
    if (!next) return;
    const line = waits.map(({ id, until }) => `${id} until ${time(until)}`).join(', ');
    if (line !== said) options.say(`Waiting for an answer: ${line}`);
    said = line;
    await change(patient, next.until);
  }
}

type WaitingRun = FoundRun & { readonly questions: readonly Question[] };

async function stillWaiting(project: Project, ids: Set<string>): Promise<readonly WaitingRun[]> {
  const runs: WaitingRun[] = [];
  for (const id of ids) {
    const found = await openRun(project, id).catch(() => undefined);
    if (found && found.pid === undefined && condition(found) === 'waiting')
      runs.push({ ...found, questions: await questionsOf(found.run, found.paths) });
    else ids.delete(id);
  }
  return runs;
}

function isDue({ questions }: WaitingRun): boolean {
  const now = clock.now();
  return questions.some(
    ({ isAnswered, deadline }) => isAnswered || (deadline !== undefined && deadline <= now),
  );
}

function waitOf({ id, questions }: WaitingRun): readonly { id: string; until: number }[] {
  const deadlines = questions.flatMap(({ deadline }) => deadline ?? []);
  return deadlines.length === 0 ? [] : [{ id, until: deadlines.reduce((a, b) => Math.min(a, b)) }];
}

/** How often to look for answers. */
const LOOK_EVERY_MS = 2_000;

/** Resolves at a time, or earlier when a message has come for one of the runs. */
async function change(runs: readonly FoundRun[], until: number): Promise<void> {
  const seen = await mail(runs);
  do {
    await new Promise<void>((resolve) => {
      clock.at(Math.min(until, clock.now() + LOOK_EVERY_MS), resolve);
    });
  } while (clock.now() < until && (await mail(runs)) === seen);
}

async function mail(runs: readonly FoundRun[]): Promise<string> {
  const lists = runs.map(({ paths }) => disk.list(paths.inbox).catch(() => []));
  return JSON.stringify(await Promise.all(lists));
}
