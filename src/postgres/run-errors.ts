import { JOURNAL_VERSION } from '../model/event.ts';
import { NEWER_RAYMOND } from '../model/newer-raymond.ts';
import { RunLost } from '../model/run-lost.ts';
import { UserError } from '../model/user-error.ts';
import type { RunOwner } from '../ports.ts';

const SEE_ALL = 'To see all runs: raymond list';

export function noRun(id: string): UserError {
  return new UserError('no-run', `There is no run ${id} in the database.`, SEE_ALL);
}

export function runExists(id: string): UserError {
  return new UserError(
    'run-exists',
    `The run ${id} already exists in the database.`,
    `Continue it (raymond resume ${id}), or choose another --workflow-id.`,
  );
}

export function runLocked(id: string, owner: RunOwner): UserError {
  return new UserError(
    'run-locked',
    `The run ${id} belongs to ${owner.name}.`,
    `Wait for it, or stop it: raymond stop ${id}`,
  );
}

export function leaseLost(id: string, owner: RunOwner | undefined): RunLost {
  const why = owner
    ? `${owner.name} has taken over the run ${id}, because this process sent no heartbeat for too long`
    : `this process has lost the run ${id}`;
  return new RunLost(
    'lock-lost',
    `${why.charAt(0).toUpperCase()}${why.slice(1)}. Raymond has changed nothing and starts nothing more.`,
    `To see its status: raymond show ${id}`,
    { owner },
  );
}

/** What to say about a run whose later state was seen before. */
export function setBack(
  id: string,
  row: { readonly seq: number },
  later: { readonly seq: number },
): string {
  const had = later.seq === Number.MAX_SAFE_INTEGER ? 'was removed' : `had ${later.seq} events`;
  return `The database has an earlier state of ${id} than this machine has seen: it has ${row.seq} events, and ${had}. Somebody has put old rows back, or the database comes from a backup. Check the run: raymond show ${id}. To continue from there: raymond resume ${id} --trust-run`;
}

/** The run has an event that cannot be read, or one is missing. */
export class DamagedEvents extends UserError {
  /** The last event before the damage. */
  readonly good: number;

  constructor(id: string, seq: number, reason: string) {
    super(
      'journal-corrupt',
      `Event ${seq} of the run ${id} in the database ${reason}.`,
      seq > 1
        ? `To continue without it and all later events: raymond resume ${id} --salvage. Or restore the database from a backup.`
        : 'Restore the database from a backup.',
    );
    this.good = seq - 1;
  }
}

export function newerRun(id: string, version: number): UserError {
  return new UserError(
    'journal-newer',
    `A newer Raymond has written the run ${id}: its events have version ${version}, and this Raymond knows ${JOURNAL_VERSION}.`,
    NEWER_RAYMOND,
  );
}
