import { messagesIn } from '../journal/inbox.ts';
import type { Project } from '../journal/project.ts';
import type { AskingStatus } from '../model/run.ts';
import { time } from '../observe/words.ts';
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
    const due = await firstDue(runs);
    if (due) {
      waiting.delete(due.id);
      yield due;
      continue;
    }
    const patient = runs.filter(({ run }) => options.wait ?? run.settings.wait);
    const waits = patient.flatMap((found) => waitOf(found)).sort((a, b) => a.until - b.until);
    const [next] = waits;
    if (!next) return;
    const line = waits.map(({ id, until }) => `${id} until ${time(until)}`).join(', ');
    if (line !== said) options.say(`Waiting for an answer: ${line}`);
    said = line;
    await change(patient, next.until);
  }
}

/** How often to look for answers. */
const LOOK_EVERY_MS = 2_000;

async function stillWaiting(project: Project, ids: Set<string>): Promise<readonly FoundRun[]> {
  const runs: FoundRun[] = [];
  for (const id of ids) {
    const found = await openRun(project, id).catch(() => undefined);
    if (found && found.pid === undefined && condition(found) === 'waiting') runs.push(found);
    else ids.delete(id);
  }
  return runs;
}

async function firstDue(runs: readonly FoundRun[]): Promise<FoundRun | undefined> {
  for (const found of runs) if (await isDue(found)) return found;
  return undefined;
}

async function isDue(found: FoundRun): Promise<boolean> {
  const questions = questionsOf(found);
  const now = clock.now();
  if (questions.some(({ deadline }) => deadline !== undefined && deadline <= now)) return true;
  const answers = await messagesIn(disk, found.paths.inbox);
  return answers.some(
    (message) =>
      message.kind === 'answer' &&
      questions.some(
        ({ agent, askedAt }) => agent === message.agent && askedAt === message.askedAt,
      ),
  );
}

type Question = AskingStatus & { readonly agent: string };

function questionsOf({ run }: FoundRun): readonly Question[] {
  return [...run.agents].flatMap(([agent, { status }]) =>
    status.kind === 'asking' ? [{ ...status, agent }] : [],
  );
}

function waitOf(found: FoundRun): readonly { readonly id: string; readonly until: number }[] {
  const deadlines = questionsOf(found).flatMap(({ deadline }) => deadline ?? []);
  return deadlines.length === 0 ? [] : [{ id: found.id, until: Math.min(...deadlines) }];
}

/** Resolves at a time, or earlier when a message has come for one of the runs. */
async function change(runs: readonly FoundRun[], until: number): Promise<void> {
  const seen = await mail(runs);
  do {
    await new Promise<void>((resolve) =>
      clock.at(Math.min(until, clock.now() + LOOK_EVERY_MS), resolve),
    );
  } while (clock.now() < until && (await mail(runs)) === seen);
}

async function mail(runs: readonly FoundRun[]): Promise<string> {
  const lists = runs.map(({ paths }) => disk.list(paths.inbox).catch(() => []));
  return JSON.stringify(await Promise.all(lists));
}
