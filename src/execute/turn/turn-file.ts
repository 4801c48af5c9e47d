/**
 * INV-23: The facts that another process needs to adopt a turn are on disk before the prompt is
 * sent.
 *
 * Each agent has its own facts. Files that are not as Raymond wrote them do not count.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { readRegularFileSync } from '../../files/regular-file.ts';
import { attempt, parsed } from '../../model/attempt.ts';
import { STEP_FILES } from '../../model/step-files.ts';
import type { Live, RunningStep, Step } from '../../ports.ts';
import type { LaunchedProcess, RunProcesses } from '../process/index.ts';
import { readSealed, type StepSeals, writeSealed } from '../steps/step-seals.ts';
import { ended, INTERRUPTED } from './outcomes.ts';

export interface TurnFacts {
  /** The folder of the process that answers; a warm process was started by an earlier step. */
  readonly process: string;
}

const turnFileOf = (folder: string) => join(folder, STEP_FILES.turn.name);

export function writeTurnFile<T extends TurnFacts>(
  seals: StepSeals,
  folder: string,
  turn: T,
): void {
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

/** For people who look at the step: nothing may follow from it. */
export function shownTurn<S extends z.ZodMiniType>(
  folder: string,
  schema: S,
): z.infer<S> | undefined {
  const bytes = attempt(() => readRegularFileSync(turnFileOf(folder), MOST_BYTES));
  return z.safeParse(schema, parsed(bytes?.toString('utf8'))).data;
}

const MOST_BYTES = 1024 * 1024;

/**
 * The end of a turn whose files are not as Raymond wrote them, so that nothing in them counts: it is
 * taken again. Undefined for other turns. `found` is the process that its record names.
 */
export function foreignStep(
  { seals }: RunProcesses,
  step: Step,
  turn: TurnFacts | undefined,
  found: LaunchedProcess | 'foreign' | undefined,
  live: (live: Live) => void,
): RunningStep | undefined {
  const { folder } = step;
  // A process that an earlier step launched had begun before the turn was recorded.
  const isLost = turn !== undefined && turn.process !== folder && found === undefined;
  const file = found === 'foreign' || isLost ? turn?.process : foreignFile(seals, folder);
  if (file === undefined) {
    if (!turn) tellMissing(step, live);
    return undefined;
  }
  live({ kind: 'warning', text: `${foreignText(file)} Raymond takes the turn again.` });
  return ended(INTERRUPTED);
}

/** The name of the turn file, if Raymond did not write it. */
function foreignFile(seals: StepSeals, folder: string): string | undefined {
  const file = turnFileOf(folder);
  return readSealed(seals, file, z.unknown()) === 'foreign' ? file : undefined;
}

/**
 * A step without a folder is begun. Raymond may have died before it made the folder, or someone has moved
 * it. They have, if the folder of the steps before is gone, too.
 */
export function tellMissing({ folder, number, state }: Step, live: (live: Live) => void): void {
  if (existsSync(folder)) return;
  const isMoved = number > 1 && !existsSync(dirname(folder));
  const text = `${isMoved ? dirname(folder) : folder} does not exist. If ${state} had begun, it is repeated now.`;
  live({ kind: isMoved ? 'warning' : 'note', text });
}

export const foreignText = (file: string): string =>
  `The record of the step in ${file} was not written by this version of Raymond for this run, or it was changed or removed. Nothing in it was used.`;
