/** The observers that write about a run: for the terminal, the log file, the debug folder. */
import type { NamedObserver } from '../../host/observe-all.ts';
import { reasonOf } from '../../journal/disk-errors.ts';
import type { LogFile } from '../../model/notice.ts';
import { shellWord } from '../../model/shell-word.ts';
import { debugFolderObserver } from '../../observe/debug-folder.ts';
import { deferred } from '../../observe/deferred.ts';
import type { Line } from '../../observe/describe.ts';
import { formatLine, plainObserver } from '../../observe/plain.ts';
import { retelling } from '../../observe/retell.ts';
import { settledQuestions } from '../../observe/settled-questions.ts';
import type { RunOptions } from '../../options/run-options.ts';
import type { Observer } from '../../ports.ts';
import { agent } from '../../world/agent.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { errorsOfStep, messagesOfStep } from '../../world/wire.ts';
import { stderr } from './terminal.ts';

export interface Reported {
  readonly id: string;
  readonly around: Pick<Surroundings, 'workspace'>;
  readonly options: RunOptions;
  /** Whether the words of the agents arrive in this process. Otherwise the journal has the report. */
  readonly isLive: boolean;
  readonly log?: LogFile | undefined;
  /** Of the events up to here, only the newest lines are shown. */
  readonly known?: number | undefined;
}

/** The report for the terminal. `hasView`: it also shows the running steps. */
export function report(
  show: (line: Line) => void,
  hasView: boolean,
  { id, around, options, isLive, known }: Reported,
): Observer {
  if (known !== undefined) return history(known, show, id);
  const lines = (to: (line: Line) => void) =>
    reportLines(to, hasView, { around, id, options, isLive });
  return hasView ? settledQuestions(show, lines) : lines(show);
}

function reportLines(
  show: (line: Line) => void,
  hasView: boolean,
  { around, id, options, isLive }: Omit<Reported, 'known' | 'log'>,
): Observer {
  if (!isLive) return retold(show, options.quiet, hasView);
  return plainObserver({
    show,
    verbosity: options.verbose ? 'verbose' : options.quiet ? 'quiet' : 'normal',
    hasView,
    alarmsOf: agent.alarmsOf,
    errorsOf: errorsOfStep(around.workspace(id)),
  });
}

/** The reports in files. Only the process that works on a run has a debug folder. */
export function keptReports(reported: Reported): readonly NamedObserver[] {
  const { id, around, options, isLive, log } = reported;
  const workspace = around.workspace(id);
  const observers: NamedObserver[] = [];
  if (log) {
    const show = (line: Line) => log.write(formatLine(line, { color: false }));
    const logged = { ...reported, options: { verbose: true }, known: undefined };
    const observer = report(show, false, logged);
    const close = async () => {
      await observer.close?.();
      log.close();
    };
    observers.push([`The log file ${options.logFile}`, { ...observer, close }]);
  }
  if (isLive && options.debug !== false) {
    const folder = workspace.debug(new Date());
    const parts = { folder, report: stderr.say, outputOf: messagesOfStep(workspace) };
    observers.push(['The debug folder', deferred(debugFolderObserver(parts))]);
  }
  return observers;
}

export function observerFailed(name: string, error: unknown): void {
  stderr.say(`${name} receives nothing more: ${reasonOf(error)}. The run continues.`);
}

/** The lines of the journal. The words of agents stay in the process that works on the run. */
function retold(show: (line: Line) => void, quiet = false, hasView = false): Observer {
  const lines = retelling(agent.alarmsOf, hasView);
  return {
    event(event, before, after) {
      for (const line of lines({ seq: after.seq, ...event }, before, after))
        if (!quiet || line.tone === 'warning' || line.tone === 'bad') show(line);
    },
    live: () => {},
  };
}

/** The same, without its older lines, for a run that another command has started. */
function history(until: number, show: (line: Line) => void, id: string): Observer {
  let earlier: Line[] = [];
  let omitted = 0;
  let isOver = false;
  const shorten = () => {
    const surplus = Math.max(0, earlier.length - MOST_EARLIER);
    earlier = earlier.slice(surplus);
    omitted += surplus;
  };
  const flush = () => {
    shorten();
    const [first] = earlier;
    if (first && omitted > 0) {
      const text = `${omitted} earlier lines are not shown. To see them: raymond logs ${shellWord(id)}`;
      show({ at: first.at, who: 'run', tone: 'faint', text });
    }
    for (const line of earlier) show(line);
    earlier = [];
    isOver = true;
  };
  const take = (line: Line) => {
    if (isOver) show(line);
    else earlier.push(line);
    if (earlier.length > 2 * MOST_EARLIER) shorten();
  };
  const lines = settledQuestions(take, (held) => retold(held, false, true));
  return {
    event(event, before, after) {
      lines.event(event, before, after);
      if (!isOver && after.seq >= until) flush();
    },
    live: () => {},
    close: async () => {
      await lines.close?.();
      if (!isOver) flush();
    },
  };
}

const MOST_EARLIER = 100;
