import { setTimeout as delay } from 'node:timers/promises';

/** Waits until a condition holds; fails, naming it, when that takes absurdly long. */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  pauseMs = 10,
): Promise<void> {
  const deadline = Date.now() + 50_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`It never came to pass that ${what}.`);
    await delay(pauseMs);
  }
}
