import { setTimeout as delay } from 'node:timers/promises';

/** Waits until a condition holds. After a very long time it fails with the name of the condition. */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  pauseMs = 10,
): Promise<void> {
  const deadline = Date.now() + 50_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Timed out. Expected: ${what}.`);
    await delay(pauseMs);
  }
}
