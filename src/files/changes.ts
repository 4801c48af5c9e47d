import { watch } from 'node:fs';

/** Signals that a file may have changed. */
export interface Changes {
  /** Resolves at the next change, or immediately if one happened since the last call. */
  next(): Promise<void>;
  /** Resolves a pending `next`. */
  wake(): void;
  close(): void;
}

/**
 * The watcher is fast, the timer is reliable. Watchers miss changes on network file systems, and
 * their number is limited on each machine.
 */
export function changesOf(file: string, pollMs = 250): Changes {
  let hasChanged = false;
  let resolveNext: (() => void) | undefined;

  const wake = () => {
    hasChanged = true;
    resolveNext?.();
  };
  const timer = setInterval(wake, pollMs);
  const unwatch = watchIfPossible(file, wake);

  return {
    async next() {
      if (!hasChanged) {
        await new Promise<void>((resolve) => {
          resolveNext = resolve;
        });
      }
      hasChanged = false;
      resolveNext = undefined;
    },
    wake,
    close() {
      clearInterval(timer);
      unwatch();
    },
  };
}

/** Returns a function that stops watching. */
export function watchIfPossible(file: string, onChange: () => void): () => void {
  try {
    const watcher = watch(file, onChange);
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}
