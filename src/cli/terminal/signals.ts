/** The signals of this process. No other part of `src` listens to them while it works on a run. */
import type { Attendant } from '../../host/attendant.ts';
import type { StopSource } from '../../ports.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type Signal = (typeof SIGNALS)[number];

/**
 * The first Ctrl-C lets running steps finish. Other signals come from supervisors or a closed terminal, which do not
 * wait.
 */
export const stopOnSignals: StopSource = (stop) => {
  const isOfSystem = isStartedBySystem();
  let interrupts = 0;
  return onSignals((signal) => {
    if (signal === 'SIGINT') return stop(interrupts++ === 0 ? 'drain' : 'now');
    if (isOfSystem) return stop('now', 'shutdown');
    stop('now');
  });
};

/**
 * Whether this is the program of a container, or a service of the system: its first process, or a child of that
 * one. Then SIGTERM comes from whoever shuts it down.
 */
function isStartedBySystem(): boolean {
  return process.pid === 1 || process.ppid === 1;
}

/**
 * Nobody sees a background process, and `raymond stop` reaches it without a signal. So these come from the system,
 * which shuts down or ends the session.
 */
export const stopInBackground: StopSource = (stop) =>
  onSignals((signal) => (signal === 'SIGINT' ? stop('now') : stop('now', 'shutdown')));

/**
 * For a run that workers execute. The first Ctrl-C lets running steps finish, the second one stops them,
 * and the third one only leaves. So does a closed terminal, because the run does not need it.
 */
export const stopOrLeaveOnSignals: Attendant['stops'] = (act) => {
  let asked: 'nothing' | 'drain' | 'now' = 'nothing';
  return onSignals((signal) => {
    if (signal === 'SIGHUP' || asked === 'now') return act('leave');
    asked = signal === 'SIGINT' && asked === 'nothing' ? 'drain' : 'now';
    act(asked);
  });
};

export const leaveOnSignals: Attendant['stops'] = (act) => onSignals(() => act('leave'));

/** Signals call `onSignal` instead of ending the process, until the returned function is called. */
export function onSignals(
  onSignal: (signal: Signal) => void,
  signals: readonly Signal[] = SIGNALS,
): () => void {
  const listeners = signals.map((signal) => [signal, () => onSignal(signal)] as const);
  for (const [signal, listener] of listeners) process.on(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) process.off(signal, listener);
  };
}

/** Calls back when a suspended process continues. Returns a function that ends this. */
export function onContinue(act: () => void): () => void {
  process.on('SIGCONT', act);
  return () => void process.off('SIGCONT', act);
}

/** Calls back before the process is suspended. Returns a function that ends this. */
export function onSuspend(act: () => void): () => void {
  const suspend = () => {
    act();
    process.kill(process.pid, 'SIGSTOP');
  };
  process.on('SIGTSTP', suspend);
  return () => void process.off('SIGTSTP', suspend);
}

/** For a key that the terminal did not turn into a signal to all processes of the job. */
export function signalOurJob(signal: 'SIGTSTP' | 'SIGQUIT'): void {
  process.kill(0, signal);
}

/** For a Ctrl-C that the terminal delivered as a key instead of a signal. */
export function interruptOurselves(): void {
  process.kill(process.pid, 'SIGINT');
}
