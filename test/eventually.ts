import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits until a condition holds. After a very long time it fails with the name of the condition. What takes
 * long is looked at less often, because each look takes time from the processes that it waits for.
 */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  pauseMs = 10,
): Promise<void> {
  const start = Date.now();
  while (!(await condition())) {
    const waited = Date.now() - start;
    if (waited > 50_000) throw new Error(`Timed out. Expected: ${what}.`);
    await delay(Math.max(pauseMs, Math.min(waited / 10, 100)));
  }
}
