import { type FSWatcher, watch } from 'node:fs';
import { UserError } from '../../model/user-error.ts';
import { onSignals } from '../terminal/signals.ts';
import { stderr } from '../terminal/terminal.ts';

/** Acts now and after every change in some folders, until Ctrl-C. */
export async function onChanges(
  folders: () => Promise<readonly string[]>,
  act: () => Promise<number>,
): Promise<number> {
  let hasChanged = false;
  let isOver = false;
  let wake = () => {};
  const change = () => {
    hasChanged = true;
    wake();
  };
  const woken = () =>
    new Promise<void>((resolve) => {
      wake = resolve;
    });
  let code = await act().catch(shown);
  const watchers: FSWatcher[] = (await folders()).map((folder) => watch(folder, change));
  const forget = onSignals(() => {
    // A second Ctrl-C ends the process.
    forget();
    isOver = true;
    wake();
  }, ['SIGINT']);
  try {
    for (;;) {
      stderr.say('Waiting for a change. To end: Ctrl-C');
      while (!hasChanged && !isOver) await woken();
      // Editors write a file in several steps. The tests should see the last one.
      while (hasChanged && !isOver) {
        hasChanged = false;
        await Promise.race([woken(), quiet()]);
      }
      if (isOver) return code;
      code = await act().catch(shown);
    }
  } finally {
    forget();
    for (const watcher of watchers) watcher.close();
  }
}

const QUIET_MS = 50;

function quiet(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, QUIET_MS));
}

/** A half-written file must not end the watch. */
function shown(error: unknown): number {
  if (!(error instanceof UserError)) throw error;
  stderr.error(error);
  return 1;
}
