// The stored sessions of a run, in memory. A step's session counts when the step is accepted.
import type { CarriedSessions, PackedSession, StepKey } from '../src/ports.ts';

export class SessionsInMemory implements CarriedSessions {
  readonly stored = new Map<string, PackedSession>();
  /** Counts how often a session was fetched. */
  fetched = 0;
  #pending: PackedSession[] = [];

  async newest(session: string) {
    const found = this.stored.get(session);
    return (
      found && {
        ...found,
        content: async () => {
          this.fetched += 1;
          return found.content;
        },
      }
    );
  }

  keep(_: StepKey, packed: PackedSession) {
    this.#pending.push(packed);
  }

  /** The ends of all steps so far are stored. */
  accept() {
    for (const packed of this.#pending) this.stored.set(packed.session, packed);
    this.#pending = [];
  }

  /** Another machine had taken the steps meanwhile. */
  refuse() {
    this.#pending = [];
  }
}
