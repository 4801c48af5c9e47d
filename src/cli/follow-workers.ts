/** Shows a run that workers carry until it ends, as if this process carried it. */
import { askPerson } from '../host/ask-person.ts';
import { observeAll } from '../host/observe-all.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { Input } from '../model/input.ts';
import type { Doing } from '../model/now.ts';
import type { Run } from '../model/run.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import type { Line } from '../observe/describe.ts';
import { jsonObserver } from '../observe/json.ts';
import { formatLine } from '../observe/plain.ts';
import { retelling } from '../observe/retell.ts';
import type { RunOptions } from '../options/run-options.ts';
import type { Observer, RunStore } from '../ports.ts';
import { agent } from './agent.ts';
import { askInView } from './ask-in-view.ts';
import { exitCode } from './exit-code.ts';
import { giveAnswer } from './give-answer.ts';
import { giveDecision } from './give-decision.ts';
import { liveView } from './live-view.ts';
import { isWithoutWorker, NO_WORKER, reportMissingWorkers } from './missing-workers.ts';
import { notices } from './notices.ts';
import { askInLines, personAtTerminal } from './person-at-terminal.ts';
import { observerFailed, reportLine } from './reporters.ts';
import { onSignals } from './signals.ts';
import type { Surroundings } from './surroundings.ts';
import { stderr, stdout } from './terminal.ts';
import { userName } from './user-name.ts';
import { watchDoing } from './watch-doing.ts';

/** A run that a command has left to the workers. */
export interface LeftRun {
  readonly run: Run;
  /** The first event that is news for the user. */
  readonly from: number;
  readonly options: RunOptions;
  readonly log: ((text: string) => void) | undefined;
}

/** The rest of the command. Gives its exit code. */
export type HandOver = (around: Surroundings, left: LeftRun) => Promise<number>;

/** Prints the id of the run. */
export const announce: HandOver = async ({ store }, { run: { id }, options: { json, quiet } }) => {
  if (json) stdout.json({ workflow_id: id, pid: null, log: null });
  else stdout.say(id);
  const name = shellWord(id);
  const steering = [
    `Workers of the database carry ${id}.`,
    `To watch it: raymond watch ${name}`,
    `To answer its questions: raymond answer ${name}`,
    `To stop it: raymond stop ${name}`,
  ];
  if (!json && !quiet) for (const line of steering) stderr.offer(line);
  if (await isWithoutWorker(store, id)) stderr.say(NO_WORKER);
  return 0;
};

/** Shows the run until it ends, answers its questions, and stops it on Ctrl-C. */
export const followWorkers: HandOver = async (around, left) => {
  const { store, clock } = around;
  const { options, run: begun } = left;
  const { id } = begun;
  const over = new AbortController();
  const { signal } = over;
  let doing: ReadonlyMap<string, Doing> = new Map();
  const isLive = !options.plain && !options.json && !options.quiet && stderr.canRedraw();
  const view = isLive
    ? liveView({ screen: stderr, pace: clock, clock, doing: () => doing })
    : undefined;
  const show = reportLine(options, view);
  const warn = (text: string) => show({ at: clock.now(), who: 'run', tone: 'warning', text });
  const person = personAtTerminal(!options.json, view ? askInView(view) : askInLines, () => {});
  const executors = { processes: await around.processes(id) };
  const observer = observeAll(
    [
      ['The report', options.json ? jsonObserver(stdout.json) : retold(show, options.quiet)],
      ...(left.log ? [['The log file', loggedTo(left.log)] as const] : []),
      ...(view ? [['The view', view] as const] : []),
      ['The questions', askPerson(person, [], (input) => void give(store, id, input, warn), clock)],
      ...notices(begun, { around, executors, options }),
    ],
    observerFailed,
  );
  let isLeftAlone = false;
  let isStopLeft = false;
  const endSignals = stopOnSignals((how) => {
    if (how === 'leave') return over.abort();
    const asked = store.mailbox(id).post({ kind: 'stop', how, pid: 0 });
    // No worker acts on it, so nothing would happen here.
    if (isLeftAlone)
      void asked.then(() => {
        isStopLeft = true;
        over.abort();
      });
  });
  const looking = [
    watchDoing(store, id, signal, (newer) => {
      doing = newer;
      view?.change();
    }),
    reportMissingWorkers(store, id, signal, (isMissing) => {
      isLeftAlone = isMissing;
      if (isMissing) warn(NO_WORKER);
    }),
  ];
  let run = newRun;
  try {
    run = await followTo(store, left, signal, observer);
  } finally {
    over.abort();
    endSignals();
    person.close();
    await Promise.all(looking);
    await observer.close();
  }
  if (run.status.kind !== 'ended') {
    if (isStopLeft) stderr.say(`No worker carries ${id} now. It stops when a worker takes it.`);
    else stderr.offer(`${id} continues. To watch it: raymond watch ${shellWord(id)}`);
    return INTERRUPTED;
  }
  // Last, because a reader that does not read must not block anything else.
  if (run.result !== undefined && !options.json) await stdout.result(run.result);
  return exitCode(run);
};

const INTERRUPTED = 130;

async function followTo(
  store: RunStore,
  { run: begun, from }: LeftRun,
  signal: AbortSignal,
  observer: Observer,
): Promise<Run> {
  let run = newRun;
  for await (const event of store.watch(begun.id, 0, signal)) {
    const before = run;
    run = apply(before, event);
    if (event.seq >= from) observer.event(event, event.seq === 1 ? undefined : before, run);
    if (event.seq >= begun.seq && run.status.kind === 'ended') break;
  }
  return run;
}

/** The lines of the journal. The words of agents stay on the machines of the workers. */
function retold(show: (line: Line) => void, quiet = false): Observer {
  const lines = retelling(agent.alarmsOf);
  return {
    event(event, before, after) {
      for (const line of lines({ seq: after.seq, ...event }, before, after)) {
        const isQuiet = line.tone !== 'warning' && line.tone !== 'bad';
        if (!quiet || !isQuiet) show(line);
      }
    },
    live: () => {},
  };
}

function loggedTo(log: (text: string) => void): Observer {
  return retold((line) => log(formatLine(line, { color: false })));
}

/** An answer that was not used is reported. */
async function give(
  store: RunStore,
  id: string,
  input: Input,
  warn: (text: string) => void,
): Promise<void> {
  try {
    if (input.kind === 'person-answered') await giveAnswer(store, id, input, input.text);
    if (input.kind === 'permission-decided') {
      const { decision, text } = input;
      const given = { decision, ...(text !== undefined && { text }) };
      await giveDecision(store, id, input, given, userName());
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    warn(error.message);
  }
}

/**
 * The first Ctrl-C lets running steps finish, the second one stops them, and the third one only leaves.
 * A run does not need this terminal, so it continues when the terminal is closed.
 */
function stopOnSignals(act: (how: 'drain' | 'now' | 'leave') => void): () => void {
  let asked: 'nothing' | 'drain' | 'now' = 'nothing';
  return onSignals((signal) => {
    if (signal === 'SIGHUP' || asked === 'now') return act('leave');
    asked = signal === 'SIGINT' && asked === 'nothing' ? 'drain' : 'now';
    act(asked);
  });
}
