import type { Observer } from '../ports.ts';

/**
 * Passes events on in a later turn of the event loop, in order, so that Raymond first launches what
 * follows from them. The end of a run is passed on immediately, together with all earlier events.
 */
export function deferred(observer: Observer): Observer {
  let waiting: (() => void)[] = [];
  const passOn = () => {
    const all = waiting;
    waiting = [];
    for (const one of all) one();
  };
  const wait = (one: () => void) => {
    if (waiting.push(one) === 1) setImmediate(passOn);
  };
  return {
    event(event, before, after) {
      wait(() => observer.event(event, before, after));
      if (event.type === 'run-ended') passOn();
    },
    live: (step, live) => wait(() => observer.live(step, live)),
  };
}
