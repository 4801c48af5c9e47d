/** An attendant shows a run, answers its questions and stops it. Each door has its own. */
import type { Doing } from '../model/now.ts';
import type { Person } from '../ports.ts';
import type { NamedObserver } from './observe-all.ts';

export interface Attendant {
  readonly observers: readonly NamedObserver[];
  /** An observer has failed, and gets nothing more. */
  readonly observerFailed: (name: string, error: unknown) => void;
  readonly person: Person;
  /** Passes on requests to stop or to leave the run. Returns a function that ends this. */
  readonly stops: (act: (how: StopOrLeave, why?: 'shutdown') => void) => () => void;
  /** Shows a warning of Raymond about the run. */
  readonly warn: (text: string) => void;
  /** Where the person is, for `--notify`. */
  readonly alert: Alert;
  /** Shows what the agents are doing, if another process works on the run. */
  readonly doing?: (now: ReadonlyMap<string, Doing>) => void;
}

/** A process that works on a run cannot leave it. */
export type StopOrLeave = 'drain' | 'now' | 'leave';

export interface Alert {
  bell(): void;
  note(text: string): void;
}
