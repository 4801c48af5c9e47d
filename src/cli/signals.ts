/** The signals of this process; nothing else in `src` listens to them while a run is carried. */
import type { StopSource } from '../ports.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof SIGNALS)[number];

/** A first Ctrl-C lets running steps finish. Supervisors and a closed terminal are in a hurry. */
export const stopOnSignals: StopSource = (stop) => {
  let interrupts = 0;
  return onSignals((signal) => stop(signal === 'SIGINT' && interrupts++ === 0 ? 'drain' : 'now'));
};

/** Instead of ending the process, signals are heard until the returned function is called. */
export function onSignals(
  heard: (signal: Signal) => void,
  signals: readonly Signal[] = SIGNALS,
): () => void {
  const listeners = signals.map((signal) => [signal, () => heard(signal)] as const);
  for (const [signal, listener] of listeners) process.on(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
}

/** For a Ctrl-C that was read as a key. */
export function interruptOurselves(): void {
  process.kill(process.pid, 'SIGINT');
}
