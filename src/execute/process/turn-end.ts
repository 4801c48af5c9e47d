import type { Exit } from './record.ts';
import type { LaunchedProcess } from './run-processes.ts';

/** The end of a process that has one turn to take. It may stay for a moment after its turn. */
export function turnEnd(launched: LaunchedProcess) {
  let exit: Exit | undefined;
  let timer: NodeJS.Timeout | undefined;
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  void launched.ended.then((how) => {
    exit = how;
    resolve();
  });
  return {
    /** Resolves when the process has ended, or when its time after the turn is over. */
    promise,
    exit: () => exit,
    /** The turn is over, so the process has little time left. */
    afterGrace: () => {
      timer ??= setTimeout(resolve, EXIT_GRACE_MS);
    },
    forget: () => clearTimeout(timer),
  };
}

/** How long a process may take to exit after its turn. */
const EXIT_GRACE_MS = 5_000;
