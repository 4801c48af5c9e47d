import type { Orchestrator } from './orchestrator.ts';

/** One line of the table. bench/README.md shows how to write one. */
export interface BenchCase {
  readonly name: string;
  /** The text of the line. */
  readonly title: string;
  /** Says in words what `Measures.floor` measures. */
  readonly floor: string;
  readonly unit: 'ms' | 'MB';
  /** The figure for the target: our value divided by the floor, or our value itself. */
  readonly limits: 'ratio' | 'value';
  /** At most this. */
  readonly target: number;
  /** A better figure to work towards. */
  readonly aim?: number;
  /** Whether any orchestrator of the same protocol can play `Measures.ours`. */
  readonly comparable: boolean;
  readonly rounds?: number;
  readonly prepare: (bench: Bench) => Measures | Promise<Measures>;
}

/** The surroundings of a case. */
export interface Bench {
  /** An empty folder for this case alone; removed at the end of the bench. */
  readonly folder: string;
}

/** Each function measures one round. The least of all rounds counts. */
export interface Measures {
  floor(): number | Promise<number>;
  ours(orchestrator: Orchestrator): number | Promise<number>;
  close?(): void | Promise<void>;
}

/** A case cannot be measured on this machine. */
export class Unavailable extends Error {}
