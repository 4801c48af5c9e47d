import type { Observer } from '../ports.ts';

/** One JSON object per event, as journaled; what happens inside a step comes as `live`. */
export function jsonObserver(write: (text: string) => void): Observer {
  return {
    event: (event) => write(`${JSON.stringify(event)}\n`),
    live: (agent, live) =>
      write(`${JSON.stringify({ type: 'live', at: Date.now(), agent, ...live })}\n`),
  };
}
