/** Stands for a value that did not come in time. */
export const LATE = Symbol('late');

/** Waits for a value, but not longer than the time given. */
export async function within<T>(value: Promise<T>, timeoutMs: number): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, LATE);
  });
  try {
    return await Promise.race([value, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
