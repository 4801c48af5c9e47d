/** Who is told what happens in a run: the terminal, the log file, the title, the debug folder. */
import { join } from 'node:path';
import { reasonOf } from '../journal/disk-errors.ts';
import type { Run } from '../model/run.ts';
import { debugFolderName, debugFolderObserver } from '../observe/debug-folder.ts';
import type { Line } from '../observe/describe.ts';
import { jsonObserver } from '../observe/json.ts';
import { formatLine, plainObserver } from '../observe/plain.ts';
import { titleBarObserver } from '../observe/title-bar.ts';
import type { Observer } from '../ports.ts';
import type { RunProcess } from './run-process.ts';
import { stderr, stdout } from './terminal.ts';
import { saidInStep } from './wire.ts';

export type NamedObserver = readonly [name: string, observer: Observer];

export function reporters(
  run: Run,
  { project, paths, options, log }: Pick<RunProcess, 'project' | 'paths' | 'options' | 'log'>,
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
    const folder = join(project.debugFolder, debugFolderName(run.id, new Date()));
    const parts = { folder, report: stderr.say, said: saidInStep(paths) };
    observers.push(['The debug folder', debugFolderObserver(parts)]);
  }
  return observers;
}

/** Watching never disturbs a run: an observer that fails (a full disk, a closed pipe) is left out from then on. */
export function observeAll(observers: readonly NamedObserver[]): Observer {
  const working = new Set(observers);
  const tell = (say: (observer: Observer) => void) => {
    for (const named of working) {
      const [name, observer] = named;
      try {
        say(observer);
      } catch (error) {
        working.delete(named);
        stderr.say(
          `${name} gets nothing more from here on: ${reasonOf(error)}. The run continues.`,
        );
      }
    }
  };
  return {
    event: (event, before, after) => tell((observer) => observer.event(event, before, after)),
    live: (agent, live) => tell((observer) => observer.live(agent, live)),
  };
}
