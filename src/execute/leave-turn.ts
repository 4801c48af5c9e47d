import type { LaunchedProcess } from './process/index.ts';

/**
 * Leaves a turn to a later process, which adopts it. A process that cannot be adopted is stopped. An adopted
 * turn is read again first, so that it gets the decisions that have been made.
 */
export async function leaveTurn(
  launched: LaunchedProcess | undefined,
  permissions: { allGiven(): Promise<void> },
): Promise<void> {
  if (!launched?.fifo) {
    await launched?.stop();
    return;
  }
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, READ_MS);
  });
  await Promise.race([permissions.allGiven(), launched.ended, timeout]);
  clearTimeout(timer);
  launched.leave?.();
}

/** How long the output of a turn may take to be read again. Decisions that are not given stay recorded. */
const READ_MS = 10_000;
