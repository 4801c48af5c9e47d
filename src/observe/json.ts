import type { Observer } from '../ports.ts';

/** One JSON object per event, as journaled. Live events of a step have the type `live`. */
export function jsonObserver(show: (value: unknown) => void): Observer {
  return {
    event: (event, _before, { seq }) => show({ seq, ...event }),
    live: (step, live) => show({ type: 'live', at: Date.now(), ...step, ...live }),
  };
}
