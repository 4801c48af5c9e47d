/** The verbs for programs in JavaScript. Everything that executes is loaded with the first call. */
import type { BoundReport, BoundRequest } from './app/bound.ts';
import type { CheckReport } from './app/check.ts';
import type { Diff, WantedDiff } from './app/diff.ts';
import type { RunFile } from './app/files.ts';
import type { InboxItem } from './app/inbox.ts';
import type { PrunedRun } from './app/prune.ts';
import type { Said } from './app/say.ts';
import type { StartedRun } from './app/started-run.ts';
import type { Attendant, StopOrLeave } from './host/attendant.ts';

import type { Choices } from './model/agent.ts';
import type { JournaledEvent } from './model/event.ts';
import type { Consent, Door, Notice } from './model/notice.ts';
import type { RewindRequest } from './model/rewind-request.ts';
import type { Run } from './model/run.ts';
import type { SurveyedRun } from './ports.ts';
import { Inbox } from './run/inbox.ts';
import type { Surroundings } from './world/surroundings.ts';

export type { BoundReport, BoundRequest, CheckReport, Diff, PrunedRun, Said, WantedDiff };

/** Where the runs are, and who is told about them. */
export interface Place {
  /** The directory of the project; by default the working directory. */
  readonly cwd?: string;
  /** The URL of the database of the runs, or `none` for files; by default as the config files say. */
  readonly database?: string;
  /** Receives what the command line would print on standard error. */
  readonly onNotice?: (notice: Notice) => void;
}

/** The options of the command line, with its defaults and with those of the config files. */
export interface RunChoices extends Place {
  readonly input?: string;
  /** In US dollars; 0 is unlimited. */
  readonly budget?: number;
  /** The largest number of starts of states; 0 is unlimited. */
  readonly maxIterations?: number;
  /** Asks `agree` before a start that could cost more; in US dollars, 0 is never. */
  readonly confirmAbove?: number;
  /** The seconds of silence after which a step is stopped; 0 is never. */
  readonly timeout?: number;
  readonly maxParallel?: number;
  readonly failFast?: boolean;
  /** Whether to wait for answers (default). Otherwise the run ends as `waiting`, unless it is in a database. */
  readonly wait?: boolean;
  readonly askPermissions?: boolean;
  /** Whether an error that lint finds stops the start (default). */
  readonly lint?: boolean;
  /** The choices for the agent, such as `{ model: 'opus' }`. */
  readonly agent?: Choices;
  /** Decides in place of a person. Without it, what needs a consent is refused. */
  readonly agree?: (consent: Consent) => Promise<boolean>;
}

export interface StartChoices extends RunChoices {
  /** The id of the new run. */
  readonly id?: string;
  /** Variables for prompts and scripts. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Calls no model and executes no script. */
  readonly rehearse?: boolean;
}

export interface ResumeChoices extends RunChoices {
  /** Failed agents begin in new sessions. */
  readonly fresh?: boolean;
  readonly trustRun?: boolean;
  readonly acceptChanges?: boolean;
}

export interface PruneChoices extends Place, Pick<RunChoices, 'agree'> {
  /** By default all completed runs. Rejects with a `UserError` if one of them does not exist. */
  readonly ids?: readonly string[];
  /** Also deletes work that exists nowhere else, if `agree` resolves with true. */
  readonly discardWork?: boolean;
}

/**
 * A run that this process executes, unless it is in a database. Its events can be iterated once. A loop
 * that ends early stops the run.
 */
export interface RunningRun extends AsyncIterable<JournaledEvent> {
  /** Resolves when the run has begun. Rejects with a `UserError` if it cannot. */
  readonly id: Promise<string>;
  /** The run when it has ended, or when a stop waits for a worker. */
  readonly ended: Promise<Run>;
  /** Lets running steps finish, or stops them. */
  stop(how?: 'drain' | 'now'): Promise<void>;
  /** Answers a question, or decides about a permission request. */
  answer(text: string, agent?: string, files?: readonly string[]): Promise<void>;
}

/** Runs a workflow: a folder, a state file, a `.zip` or a `.yaml`. */
export function run(workflow: string, choices: StartChoices = {}): RunningRun {
  return running(choices, async (around, door) => {
    const { id, variables = {}, ...others } = choices;
    const { start } = await import('./app/start.ts');
    const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    const named = id === undefined ? {} : { workflowId: id };
    return start(around, workflow, { ...optionsIn(others), ...named, set }, door);
  });
}

/** Continues a run. A completed run has no more events. */
export function resume(id: string, choices: ResumeChoices = {}): RunningRun {
  return running(choices, async (around, door) => {
    const [{ openRun }, { resume }] = await Promise.all([
      import('./host/open-run.ts'),
      import('./app/resume.ts'),
    ]);
    // Before anything is made for a run that does not exist.
    await openRun(around.store, id);
    const resumed = await resume(around, id, optionsIn(choices), door);
    return resumed.kind === 'begun' ? resumed.begun : resumed.run;
  });
}

/**
 * Resumes each run that can continue, one after the other, and gives it when it has ended. Then waits
 * for runs with a deadline. What refuses one run is a notice.
 */
export async function* resumeAll(choices: ResumeChoices = {}): AsyncGenerator<Run> {
  const around = await surroundingsOf(choices);
  const [{ resumeAll }, { UserError }] = await Promise.all([
    import('./app/resume-all.ts'),
    import('./model/user-error.ts'),
  ]);
  try {
    for await (const { resumed } of resumeAll(around, optionsIn(choices), doorOf(choices)))
      try {
        const one = await resumed;
        const begun = one.kind === 'begun' ? one.begun : one.run;
        yield await carried(begun, choices, { observers: [], stops: () => () => {} });
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        const { message, remedy } = error;
        choices.onNotice?.({ kind: 'trouble', message, remedy });
      }
  } finally {
    await around.world.close();
  }
}

/** The events of a run, and then each new one, until no process works on it. */
export async function* events(
  id: string,
  { signal, ...place }: Place & { readonly signal?: AbortSignal } = {},
): AsyncGenerator<JournaledEvent> {
  const around = await surroundingsOf(place);
  const { attend } = await import('./app/look.ts');
  try {
    yield* attend(around, id, { signal });
  } finally {
    await around.world.close();
  }
}

/**
 * Stops a run of any process, and resolves when it has stopped. A run without a worker stops when
 * a worker takes it, so for such a run it resolves at once.
 */
export function stop(
  id: string,
  { now = false, ...place }: Place & { readonly now?: boolean } = {},
): Promise<void> {
  return within(place, async (around) => {
    const { stop } = await import('./app/stop.ts');
    const begun = await stop(around, id, now ? 'now' : 'drain');
    if (begun.kind === 'asked' && !begun.owner.isAwaited) await begun.wait();
  });
}

/** Answers a question of a run of any process, or decides about a permission request. */
export function answer(
  id: string,
  text: string,
  { agent, files, ...place }: Place & AnswerChoices = {},
): Promise<void> {
  return within(place, (around) => answerIn(around, id, text, { agent, files }));
}

export interface AnswerChoices {
  /** May be left out if one agent has a question. */
  readonly agent?: string | undefined;
  /** Paths of files that come with the answer. */
  readonly files?: readonly string[] | undefined;
}

/** A file that a question showed, or that came with an answer. `content` may be large. */
export type KeptRunFile = RunFile & { content(): Promise<Uint8Array> };

/** The files of all questions and answers of a run, the oldest first. */
export async function files(id: string, place: Place = {}): Promise<readonly KeptRunFile[]> {
  const app = await import('./app/files.ts');
  const found = await within(place, (around) => app.files(around, id));
  const content = (file: RunFile) => within(place, (around) => app.contentOf(around, id, file));
  return found.map((file) => ({ ...file, content: () => content(file) }));
}

/** Answers the question for which a one-time code stands, in any project of the user. */
export function answerByCode(
  code: string,
  text?: string,
  place: Place = {},
): Promise<{ readonly run: string; readonly agent: string }> {
  return within(place, async (around) => {
    const { run, agent } = await (await import('./app/answer-by-code.ts')).answerByCode(around, {
      code,
      text,
    });
    return { run, agent };
  });
}

/** Says something to an agent of a run of any process. Resolves with what has become of it. */
export function say(
  id: string,
  text: string,
  { agent, ...place }: Place & { readonly agent?: string } = {},
): Promise<Said> {
  return within(place, async (around) =>
    (await import('./app/say.ts')).say(around, id, text, agent),
  );
}

/** Takes a run back to the moment before a step, or undoes the last rewind. */
export function rewind(
  id: string,
  request: RewindRequest,
  { files = true, ...place }: Place & { readonly files?: boolean } = {},
): Promise<Run> {
  return within(place, async (around) => {
    const { rewind } = await import('./app/rewind.ts');
    return (await rewind(around, id, request, { files, agreed: true }, doorOf(place))).run;
  });
}

/** Removes runs on which no process works. A run with work that exists nowhere else is kept. */
export function prune({
  ids,
  discardWork: discardWorktrees = false,
  ...choices
}: PruneChoices = {}): Promise<readonly PrunedRun[]> {
  return within(choices, async (around) => {
    const { prune } = await import('./app/prune.ts');
    const pruned = await prune(around, { ids, discardWorktrees, isChosen: true }, doorOf(choices));
    const all: PrunedRun[] = [];
    for await (const one of pruned ?? []) all.push(one);
    return all;
  });
}

/** Summaries of all runs of a project, the oldest first. */
export function list(place: Place = {}): Promise<readonly SurveyedRun[]> {
  return within(place, async (around) => {
    const { list } = await import('./app/list.ts');
    return told(place, await list(around)).runs;
  });
}

/** What waits for the person in all projects, the oldest first. */
export function inbox(place: Place = {}): Promise<readonly InboxItem[]> {
  return within(place, async (around) => {
    const { inbox } = await import('./app/inbox.ts');
    return told(place, await inbox(around)).items;
  });
}

/** The current state of a run. */
export function look(id: string, place: Place = {}): Promise<Run> {
  return within(place, async (around) => {
    const { look } = await import('./app/look.ts');
    return told(place, await look(around, id)).found.run;
  });
}

/** The files that a run, one of its agents or one step has changed. */
export function diff(
  id: string,
  { agent, step, ...place }: Place & WantedDiff = {},
): Promise<Diff> {
  return within(place, async (around) => {
    const { diff } = await import('./app/diff.ts');
    return diff(around, id, { agent, step });
  });
}

/** The most that a run of a workflow can use. Its own options win over those of the config files. */
export function bound(
  workflow: string,
  { turn, budget, maxAgents, maxIterations, ...place }: Place & BoundRequest = {},
): Promise<BoundReport> {
  return within(place, async (around) => {
    const { bound } = await import('./app/bound.ts');
    return bound(around, workflow, { turn, budget, maxAgents, maxIterations });
  });
}

/** Everything that can be found out about a workflow without running it. */
export function check(workflow: string, place: Place = {}): Promise<CheckReport> {
  return within(place, async (around) => (await import('./app/check.ts')).check(around, workflow));
}

function told<T extends { readonly notices: readonly Notice[] }>({ onNotice }: Place, found: T): T {
  if (onNotice) found.notices.forEach(onNotice);
  return found;
}

async function surroundingsOf({ cwd, database, onNotice }: Place): Promise<Surroundings> {
  const { surroundings } = await import('./world/surroundings.ts');
  const report = (...texts: readonly string[]) => {
    for (const text of texts) onNotice?.({ kind: 'warning', text });
  };
  return surroundings({ ...(cwd !== undefined && { cwd }), database, report });
}

async function within<T>(place: Place, act: (around: Surroundings) => Promise<T>): Promise<T> {
  const around = await surroundingsOf(place);
  return act(around).finally(() => around.world.close());
}

function doorOf({ onNotice = () => {}, agree }: Pick<RunChoices, 'onNotice' | 'agree'>): Door {
  return {
    notice: onNotice,
    async agree(consent) {
      if (agree) return agree(consent);
      for (const text of consent.facts) onNotice({ kind: 'warning', text });
      return undefined;
    },
  };
}

function optionsIn<T extends RunChoices>(choices: T) {
  const { cwd: _, database: __, onNotice: ___, agree: ____, ...options } = choices;
  return options;
}

async function answerIn(
  around: Surroundings,
  id: string,
  text: string,
  { agent, files = [] }: AnswerChoices,
) {
  const [{ answer, askedItem }, { filesAt }] = await Promise.all([
    import('./app/answer.ts'),
    import('./app/answer-files.ts'),
  ]);
  const asked = await askedItem(around, id, { agent });
  await answer(around, asked, text, await filesAt(files, around.cwd, asked));
}

function running(
  choices: RunChoices,
  begin: (around: Surroundings, door: Door) => Promise<StartedRun | Run>,
): RunningRun {
  const inbox = new Inbox<JournaledEvent | undefined>();
  let isOver = false;
  let isIterated = false;
  let act: ((how: StopOrLeave) => void) | undefined;
  let wish: 'drain' | 'now' | undefined;
  const opened = surroundingsOf(choices);
  const begun = opened.then((around) => begin(around, doorOf(choices)));
  const id = begun.then((one) => ('attend' in one ? one.run.id : one.id));
  const attendant: Pick<Attendant, 'observers' | 'stops'> = {
    observers: [
      ['The caller', { event: (event, _, { seq }) => inbox.put({ ...event, seq }), live() {} }],
    ],
    stops(stop) {
      act = stop;
      if (wish) stop(wish);
      return () => {};
    },
  };
  const ended = begun
    .then((one) => carried(one, choices, attendant))
    .finally(async () => {
      isOver = true;
      await (await opened).world.close();
    });
  ended.then(
    () => inbox.put(undefined),
    (error) => inbox.fail(error),
  );
  // A caller may look at the events only.
  id.catch(() => {});
  const stopRun = async (how: 'drain' | 'now' = 'drain') => {
    if (wish !== 'now') wish = how;
    act?.(how);
    await ended;
  };
  return {
    id,
    ended,
    stop: stopRun,
    answer: async (text, agent, files) => answerIn(await opened, await id, text, { agent, files }),
    async *[Symbol.asyncIterator]() {
      if (isIterated)
        throw new Error('The events of a run can be iterated once. To read them again: events(id)');
      isIterated = true;
      try {
        yield* taken(inbox);
      } finally {
        if (!isOver) await stopRun();
      }
    },
  };
}

async function carried(
  started: StartedRun | Run,
  { onNotice }: Place,
  attendant: Pick<Attendant, 'observers' | 'stops'>,
): Promise<Run> {
  if (!('attend' in started)) return started;
  const { personAway } = await import('./app/started-run.ts');
  const { run } = await started.attend({
    ...attendant,
    observerFailed: () => {},
    person: personAway(started),
    warn: (text) => onNotice?.({ kind: 'warning', text }),
    alert: { bell() {}, note() {} },
  });
  return run;
}

/** What was put in, in order, up to the first `undefined`. */
async function* taken<T>(inbox: Inbox<T | undefined>): AsyncGenerator<T> {
  for (;;)
    for (const item of await inbox.take()) {
      if (item === undefined) return;
      yield item;
    }
}
