/** Who is told what happens in a run: the terminal, the log file, the title, the debug folder, the state file. */
import type { NamedObserver } from '../host/observe-all.ts';
import { reasonOf } from '../journal/disk-errors.ts';
import { debugFolder, type Project, type RunPaths } from '../journal/project.ts';
import { freeze } from '../journal/state-file.ts';
import { stateWriter } from '../journal/state-writer.ts';
import type { Run } from '../model/run.ts';
import { debugFolderObserver } from '../observe/debug-folder.ts';
import type { Line } from '../observe/describe.ts';
import { jsonObserver } from '../observe/json.ts';
import { formatLine, plainObserver } from '../observe/plain.ts';
import { titleBarObserver } from '../observe/title-bar.ts';
import type { RunOptions } from '../options/run-options.ts';
import type { Observer } from '../ports.ts';
import { clock, disk } from './store.ts';
import { stderr, stdout } from './terminal.ts';
import { messagesOfStep } from './wire.ts';

export interface Reported {
  readonly project: Project;
  readonly paths: RunPaths;
  readonly options: RunOptions;
  /** Takes the report for the log file, if there is one. */
  readonly log: ((text: string) => void) | undefined;
}

export function reporters(
  run: Run,
  { project, paths, options, log }: Reported,
  confirm: () => Promise<void>,
): readonly NamedObserver[] {
  const verbosity = options.verbose ? 'verbose' : options.quiet ? 'quiet' : 'normal';
  const observers: NamedObserver[] = [];
  const report = options.json
    ? jsonObserver(stdout.json)
    : plainObserver({ show: (line) => stderr.line(line, options), verbosity });
  observers.push(['The report', report]);
  if (log) {
    const show = (line: Line) => log(formatLine(line, { color: false }));
    const name = `The log file ${options.logFile}`;
    observers.push([name, plainObserver({ show, verbosity: 'verbose' })]);
  }
  if (!options.plain && !options.json)
    observers.push(['The title', titleBarObserver(stderr.title)]);
  if (options.debug !== false) {
    const folder = debugFolder(project, run.id, new Date());
    const parts = { folder, report: stderr.say, said: messagesOfStep(paths) };
    observers.push(['The debug folder', debugFolderObserver(parts)]);
  }
  observers.push(['The state file', stateFileObserver(paths.stateFile, confirm)]);
  return observers;
}

export function observerFailed(name: string, error: unknown): void {
  stderr.say(`${name} gets nothing more from here on: ${reasonOf(error)}. The run continues.`);
}

/** The state file is somebody else's as soon as the run is. */
function stateFileObserver(path: string, confirm: () => Promise<void>): Observer {
  const { update, close } = stateWriter({ disk, path, clock, freeze, confirm, report: () => {} });
  return { event: (_event, _before, after) => update(after), live: () => {}, close };
}
