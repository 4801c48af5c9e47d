/** The background process of a run. It receives its task from the command that started it. */
import { resume } from '../../app/resume.ts';
import { start } from '../../app/start.ts';
import { personAway, type StartedRun } from '../../app/started-run.ts';
import { reasonOf } from '../../journal/disk-errors.ts';
import type { Door, Notice } from '../../model/notice.ts';
import type { Observer } from '../../ports.ts';
import type { BackgroundTask } from '../../world/background.ts';
import { openLog } from '../../world/log-file.ts';
import type { Here, Surroundings } from '../../world/surroundings.ts';
import { errorOf, isExpected, reportError } from '../terminal/report-error.ts';
import { keptReports, observerFailed } from '../terminal/reporters.ts';
import { stopInBackground, stopOnSignals } from '../terminal/signals.ts';
import { limitStderr, stderr } from '../terminal/terminal.ts';
import { showNotice } from '../terminal/terminal-door.ts';
import { exitCode } from './exit-code.ts';
import { listenToStarter } from './starter.ts';

/** Works on the run and returns its exit code, which no process reads. */
export async function detached(here: Here, run: string): Promise<number> {
  limitStderr(MOST_LOG_BYTES);
  const starter = await listenToStarter();
  const notices: Notice[] = [];
  const door: Door = {
    notice(notice) {
      notices.push(notice);
      showNotice(notice);
    },
    openLog,
    // No person sees this process.
    agree: async () => undefined,
  };
  try {
    const around = await here();
    const { processLog } = around.workspace(run);
    const started = await startedBy(around, starter.task, door);
    if (!started) {
      starter.tell({ kind: 'over', notices });
      return 0;
    }
    const began = () => {
      try {
        processLog.keep(starter.task.log);
      } catch (error) {
        stderr.say(`This file keeps its name ${starter.task.log}: ${reasonOf(error)}.`);
      }
      starter.tell({ kind: 'began', notices });
    };
    return exitCode(await carry(around, started, began));
  } catch (error) {
    // The starter would wait for a word, and its channel keeps this process alive.
    const exit = starter.isListening() && isExpected(error) ? 1 : reportError(error);
    const { code, message, remedy, place } = errorOf(error);
    starter.tell({ kind: 'refused', code, message, remedy, place, notices });
    return exit;
  }
}

const MOST_LOG_BYTES = 1024 * 1024;

async function startedBy(
  around: Surroundings,
  { kind, name, options }: BackgroundTask,
  door: Door,
): Promise<StartedRun | undefined> {
  if (kind === 'run') return start(around, name, options, door);
  const resumed = await resume(around, name, options, door);
  return resumed.kind === 'begun' ? resumed.begun : undefined;
}

/**
 * Without a report: the journal has it, and other processes show it. Questions wait for `raymond
 * answer`. `began` is called when the journal holds the first event of this process.
 */
async function carry(around: Surroundings, started: StartedRun, began: () => void) {
  // Raymond ends what a step has started together with the step.
  const isOfStep = (await around.processes(started.run.id)).includeAnyRun();
  const attended = await started.attend({
    observers: [
      ['The start', onFirstEvent(began)],
      ...keptReports({ ...started, id: started.run.id, around }),
    ],
    observerFailed,
    person: personAway(started),
    stops: isOfStep ? stopOnSignals : stopInBackground,
    warn: stderr.say,
    alert: stderr,
  });
  return attended.run;
}

function onFirstEvent(act: () => void): Observer {
  let isFirst = true;
  return {
    event() {
      if (isFirst) act();
      isFirst = false;
    },
    live: () => {},
  };
}
