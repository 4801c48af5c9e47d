import { openByKind } from '../host/questions.ts';
import { allRuns } from '../look/all-runs.ts';
import { conditionOf, isResumable, needsAnswer } from '../model/condition.ts';
import { type Door, warnings } from '../model/notice.ts';
import { time } from '../observe/words.ts';
import type { Clock, RunStore, StoredRun } from '../ports.ts';
import { configurationFor, ignoredKeys } from '../world/config/configuration.ts';
import { withNormalChoices } from '../world/config/normal-choices.ts';
import { notYours } from '../world/sealed-choices.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { type Resumed, type ResumeOptions, resume } from './resume.ts';
import { give } from './started-run.ts';

export interface OneOfAll {
  readonly id: string;
  /** Rejects if the run cannot continue. That does not concern the other runs. */
  readonly resumed: Promise<Resumed>;
}

/**
 * Resumes one run after the other. The caller attends each before it asks for the next one. A question
 * does not delay the next run. Afterwards, resumes each waiting run when its answer has arrived or its
 * deadline has passed.
 */
export async function* resumeAll(
  around: Surroundings,
  given: ResumeOptions,
  door: Door,
): AsyncGenerator<OneOfAll> {
  const options = { ...given, all: true };
  const config = await configurationFor(
    around.project,
    withNormalChoices(options, 'The command line'),
  );
  give(door, warnings(ignoredKeys(config)));
  const waiting = new Set<string>();
  const one = (id: string) => ({ id, resumed: resume(around, id, options, door, false) });
  for (const found of await allRuns(around.store)) {
    if (found.kind === 'damaged') continue;
    const { id, isOwn, doubt } = found;
    const condition = conditionOf(found);
    const isResumed = isResumable(condition);
    const isMeant = isOwn || options.trustRun === true;
    if (!isMeant && (isResumed || needsAnswer(condition)))
      give(door, warnings([`Skipped: ${notYours(id, doubt)}`]));
    if (isMeant && isResumed) yield one(id);
    if (isMeant && (isResumed || needsAnswer(condition))) waiting.add(id);
  }
  const { wait, quiet, json } = options;
  const say = (line: string) => {
    if (!quiet && !json) give(door, warnings([line]));
  };
  for await (const { id } of dueRuns(around, waiting, { wait, say })) {
    const due = one(id);
    yield due;
    // A run that cannot continue would be due again at once.
    await due.resumed.then(
      () => waiting.add(id),
      () => {},
    );
  }
}

/**
 * Gives each waiting run when its answer has arrived or its deadline has passed, until no run is left
 * to wait for. The caller may add runs meanwhile.
 */
async function* dueRuns(
  { store, clock }: Pick<Surroundings, 'store' | 'clock'>,
  waiting: Set<string>,
  options: { readonly wait: boolean | undefined; readonly say: (line: string) => void },
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

type WaitingRun = StoredRun & Awaited<ReturnType<typeof openByKind>>;

async function stillWaiting(store: RunStore, ids: Set<string>): Promise<readonly WaitingRun[]> {
  const runs: WaitingRun[] = [];
  for (const id of ids) {
    const found = await store.look(id);
    if (found.kind === 'stored' && !found.owner && needsAnswer(conditionOf(found)))
      runs.push({ ...found, ...(await openByKind(store, found.run)) });
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
