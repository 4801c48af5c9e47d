/**
 * INV-44: Every occasion is recorded before its run is started, and has at most one run.
 *
 * The ledger of occasions. Files are one implementation, for the projects of one machine, and PostgreSQL is
 * another. `test/contracts/occasions.ts` defines the rules for both.
 *
 * 1. A record or an outcome exists when its promise resolves: every later reader finds it.
 * 2. Of any number of processes that record the same occasion, one is told that it is new.
 * 3. A final outcome never changes.
 * 4. Occasions that are not final, and the ids of the newest ones, are never forgotten.
 */
import type { Occasion, OccasionOutcome, OccasionRecord, TriggerKey } from '../model/trigger.ts';

export interface Occasions {
  /** The payload is what becomes the input of the run. Without an outcome, the occasion is due. */
  record(
    occasion: Occasion,
    payload?: string,
    outcome?: OccasionOutcome,
  ): Promise<'recorded' | 'known'>;
  /** Does nothing if the outcome is final. */
  settle(occasion: Occasion, outcome: OccasionOutcome): Promise<void>;
  find(trigger: TriggerKey, id: string): Promise<OccasionRecord | undefined>;
  /** The occasions of a trigger that are due or started, in the order of their records. */
  open(trigger: TriggerKey): Promise<readonly OccasionRecord[]>;
  /** The newest first, of one trigger or of all triggers of a project. */
  newest(
    of: TriggerKey | { readonly project: string },
    most: number,
  ): Promise<readonly OccasionRecord[]>;
  /** Kept as long as the record. */
  payload(occasion: Occasion): Promise<string | undefined>;
  /** When the trigger was kept for the first time: `now`, if it was never kept before. */
  keptSince(trigger: TriggerKey, now: number): Promise<number>;
  /** Lets one process at a time decide about the occasions of a trigger. */
  alone<T>(trigger: TriggerKey, use: () => Promise<T>): Promise<T>;
  /** Calls when another process may have recorded something. Returns a function that ends it. */
  watch(project: string, changed: () => void): () => void;
}
