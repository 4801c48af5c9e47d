import type { Observer } from '../ports.ts';

export type NamedObserver = readonly [name: string, observer: Observer];

/**
 * Observers never disturb a run: one that fails (a full disk, a closed pipe) receives nothing more.
 */
export function observeAll(
  observers: readonly NamedObserver[],
  failed: (name: string, error: unknown) => void,
): Required<Observer> {
  const working = new Set(observers);
  const tell = (say: (observer: Observer) => void) => {
    for (const named of working) {
      const [name, observer] = named;
      try {
        say(observer);
      } catch (error) {
        working.delete(named);
        failed(name, error);
      }
    }
  };
  return {
    event: (event, before, after) => tell((observer) => observer.event(event, before, after)),
    live: (step, live) => tell((observer) => observer.live(step, live)),
    /** Also those that have failed, because they may hold resources. */
    async close() {
      for (const [name, observer] of observers) {
        try {
          await observer.close?.();
        } catch (error) {
          failed(name, error);
        }
      }
    },
  };
}
