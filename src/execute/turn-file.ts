/** The file in which an executor keeps the facts that another process needs to adopt a turn. */
import { join } from 'node:path';
import * as z from 'zod/mini';
import { readRegularFileSync } from '../files/regular-file.ts';
import { STEP_FILES } from '../model/step-files.ts';
import { readSealed, type StepSeals, writeSealed } from './step-seals.ts';

const turnFileOf = (folder: string) => join(folder, STEP_FILES.turn.name);

export function writeTurnFile(seals: StepSeals, folder: string, turn: object): void {
  writeSealed(seals, turnFileOf(folder), turn);
}

/** Undefined if there is none, if Raymond did not write it, or if another executor did. */
export function readTurnFile<S extends z.ZodMiniType>(
  seals: StepSeals,
  folder: string,
  schema: S,
): z.infer<S> | undefined {
  const turn = readSealed(seals, turnFileOf(folder), schema);
  return turn === 'foreign' ? undefined : turn;
}

/** The name of the file, if Raymond did not write it. */
export function foreignTurn(seals: StepSeals, folder: string): string | undefined {
  const file = turnFileOf(folder);
  return readSealed(seals, file, z.unknown()) === 'foreign' ? file : undefined;
}

/** For people who look at the step: nothing may follow from it. */
export function shownTurn<S extends z.ZodMiniType>(
  folder: string,
  schema: S,
): z.infer<S> | undefined {
  try {
    const text = readRegularFileSync(turnFileOf(folder), MOST_BYTES).toString('utf8');
    return z.safeParse(schema, JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const MOST_BYTES = 1024 * 1024;
