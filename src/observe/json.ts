import type { Observer } from '../ports.ts';

/** One JSON object per event, as journaled; what happens inside a step comes as `live`. */
export function jsonObserver(show: (value: unknown) => void): Observer {
  return {
    event: (event, _before, { seq }) => show({ seq, ...event }),
    live: (step, live) => show({ type: 'live', at: Date.now(), ...step, ...live }),
  };
}
