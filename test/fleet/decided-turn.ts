/** A turn of a worker that stores what it decides and acts on nothing. */
import {
  holdInDatabase,
  type SharedParts,
  type Sharing,
} from '../../src/fleet/hold-in-database.ts';
import type { KnownRun } from '../../src/fleet/known-run.ts';
import type { Input } from '../../src/model/input.ts';
import { type DecidingPorts, decideTurn, type StoredTurn } from '../../src/run/turn.ts';

export interface TurnParts extends SharedParts, Pick<DecidingPorts, 'newId'> {
  readonly executors: DecidingPorts['steps']['executors'];
}

export interface Turn extends Omit<Sharing, 'onStored'> {
  readonly inputs: readonly Input[];
}

export function takeTurn(parts: TurnParts, known: KnownRun, turn: Turn): Promise<StoredTurn> {
  const { newId, executors } = parts;
  const hold = holdInDatabase(parts, known, { ...turn, onStored: () => {} });
  const steps = { executors, prepare: () => {} };
  return decideTurn({ hold, newId, steps, attended: () => true, patient: true }, turn.inputs);
}
