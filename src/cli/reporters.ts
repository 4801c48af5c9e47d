/** The observers of a run: the terminal, the log file, the debug folder. */
import type { NamedObserver } from '../host/observe-all.ts';
import { reasonOf } from '../journal/disk-errors.ts';
import { debugFolderObserver } from '../observe/debug-folder.ts';
import { deferred } from '../observe/deferred.ts';
import type { Line } from '../observe/describe.ts';
import { jsonObserver } from '../observe/json.ts';
import { formatLine, plainObserver } from '../observe/plain.ts';
import type { RunOptions } from '../options/run-options.ts';
import type { Workspace } from '../ports.ts';
import { agent } from './agent.ts';
import type { LiveView } from './live-view.ts';
import { stderr, stdout } from './terminal.ts';
import { errorsOfStep, messagesOfStep } from './wire.ts';

export interface Reported {
  readonly workspace: Workspace;
  readonly options: RunOptions;
  /** Writes to the log file, if there is one. */
  readonly log: ((text: string) => void) | undefined;
}

/** `view` is present if the terminal shows it. */
export function reporters(
  reported: Reported,
  view: LiveView | undefined,
): readonly NamedObserver[] {
  const { workspace, options } = reported;
  const verbosity = options.verbose ? 'verbose' : options.quiet ? 'quiet' : 'normal';
  const report = options.json
    ? jsonObserver(stdout.json)
    : plainObserver({
        show: reportLine(options, view),
        verbosity,
        hidesStarts: view !== undefined,
        alarmsOf: agent.alarmsOf,
        errorsOf: errorsOfStep(workspace),
      });
  const observers: NamedObserver[] = [['The report', report]];
  if (view) observers.push(['The view', view]);
  return [...observers, ...keptReports(reported)];
}

/** The reports in files. */
export function keptReports({ workspace, options, log }: Reported): readonly NamedObserver[] {
  const { alarmsOf } = agent;
  const errorsOf = errorsOfStep(workspace);
  const observers: NamedObserver[] = [];
  if (log) {
    const show = (line: Line) => log(formatLine(line, { color: false }));
    const name = `The log file ${options.logFile}`;
    observers.push([name, plainObserver({ show, verbosity: 'verbose', alarmsOf, errorsOf })]);
  }
  if (options.debug !== false) {
    const folder = workspace.debug(new Date());
    const parts = { folder, report: stderr.say, outputOf: messagesOfStep(workspace) };
    observers.push(['The debug folder', deferred(debugFolderObserver(parts))]);
  }
  return observers;
}

/** Shows one line of the report. */
export function reportLine(options: RunOptions, view: LiveView | undefined): (line: Line) => void {
  return view ? view.line : (line) => stderr.line(line, options);
}

export function observerFailed(name: string, error: unknown): void {
  stderr.say(`${name} receives nothing more: ${reasonOf(error)}. The run continues.`);
}
