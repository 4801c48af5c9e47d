import { type Question, questionsOf, type Request, requestsOf } from '../host/questions.ts';
import { conditionOf, needsAnswer } from '../model/condition.ts';
import { time } from '../observe/words.ts';
import type { Clock, RunStore, StoredRun } from '../ports.ts';
import type { Surroundings } from '../world/surroundings.ts';

/**
 * Gives each waiting run when its answer has arrived or its deadline has passed, until no run is left
 * to wait for. The caller may add runs meanwhile.
 */
export async function* dueRuns(
  { store, clock }: Pick<Surroundings, 'store' | 'clock'>,
  waiting: Set<string>,
  options: { readonly wait?: boolean; readonly say: (line: string) => void },
): AsyncGenerator<StoredRun> {
  let said = '';
  while (true) {
    const runs = await stillWaiting(store, waiting);
    const due = runs.find((run) => isDue(run, clock.now()));
    if (due) {
      waiting.delete(due.id);
      yield due;
      continue;
    }
    const patient = runs.filter(({ run }) => options.wait ?? run.settings.wait);
    const waits = patient.flatMap(waitOf).sort((a, b) => a.until - b.until);
    const [next] = waits;
    if (!next) return;
    const line = waits.map(({ id, until }) => `${id} until ${time(until, clock.now())}`).join(', ');
    if (line !== said) options.say(`Waiting for an answer: ${line}`);
    said = line;
    await change(store, clock, patient, next.until);
  }
}

type WaitingRun = StoredRun & {
  readonly questions: readonly Question[];
  readonly requests: readonly Request[];
};

async function stillWaiting(store: RunStore, ids: Set<string>): Promise<readonly WaitingRun[]> {
  const runs: WaitingRun[] = [];
  for (const id of ids) {
    const found = await store.look(id);
    if (found.kind === 'stored' && !found.owner && needsAnswer(conditionOf(found)))
      runs.push({
        ...found,
        questions: await questionsOf(store, found.run),
        requests: await requestsOf(store, found.run),
      });
    else ids.delete(id);
  }
  return runs;
}

function isDue({ questions, requests }: WaitingRun, now: number): boolean {
  if (requests.some(({ isAnswered }) => isAnswered)) return true;
  return questions.some(
    ({ isAnswered, deadline }) => isAnswered || (deadline !== undefined && deadline <= now),
  );
}

function waitOf({ id, questions }: WaitingRun): readonly { id: string; until: number }[] {
  const deadlines = questions.flatMap(({ deadline }) => deadline ?? []);
  return deadlines.length === 0 ? [] : [{ id, until: deadlines.reduce((a, b) => Math.min(a, b)) }];
}

/** How often to check for answers. */
const LOOK_EVERY_MS = 2_000;

/** Resolves at a time, or earlier when a message for one of the runs arrives. */
async function change(
  store: RunStore,
  clock: Clock,
  runs: readonly StoredRun[],
  until: number,
): Promise<void> {
  const seen = await mail(store, runs);
  do {
    await new Promise<void>((resolve) => {
      clock.at(Math.min(until, clock.now() + LOOK_EVERY_MS), resolve);
    });
  } while (clock.now() < until && (await mail(store, runs)) === seen);
}

async function mail(store: RunStore, runs: readonly StoredRun[]): Promise<string> {
  const lists = runs.map(({ id }) => store.mailbox(id).messages());
  return JSON.stringify(await Promise.all(lists));
}
