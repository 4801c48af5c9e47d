import { vi } from 'vitest';

/** Waits until an assertion holds. `vi.waitFor` alone gives up after a second. */
export function patiently<T>(assertion: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(assertion, { timeout: 50_000, interval: 10 });
}
