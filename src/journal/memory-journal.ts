import type { RunEvent } from '../model/event.ts';
import type { Journal } from '../ports.ts';

export interface MemoryJournal extends Journal {
  readonly events: readonly RunEvent[];
}

/** Keeps events for as long as the process lives: to try workflows, not to run them. */
export function memoryJournal(): MemoryJournal {
  const events: RunEvent[] = [];
  return {
    events,
    append(added) {
      events.push(...added);
      return Promise.resolve();
    },
  };
}
