import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { NO_COST } from '../model/step-account.ts';
import type { Live, RunningStep, Step } from '../ports.ts';
import type { LaunchedProcess, RunProcesses } from './process/index.ts';
import { foreignTurn } from './turn-file.ts';

/**
 * The end of a turn whose files are not as Raymond wrote them, so that nothing in them counts: it is
 * taken again. Undefined for other turns. `found` is the process that its record names.
 */
export function foreignStep(
  { seals }: RunProcesses,
  step: Step,
  turn: { readonly process: string } | undefined,
  found: LaunchedProcess | 'foreign' | undefined,
  live: (live: Live) => void,
): RunningStep | undefined {
  const { folder } = step;
  // A process that an earlier step launched had begun before the turn was recorded.
  const isLost = turn !== undefined && turn.process !== folder && found === undefined;
  const file = found === 'foreign' || isLost ? turn?.process : foreignTurn(seals, folder);
  if (file === undefined) {
    if (!turn) tellMissing(step, live);
    return undefined;
  }
  live({ kind: 'warning', text: `${foreignText(file)} Raymond takes the turn again.` });
  return {
    outcome: Promise.resolve({
      kind: 'interrupted',
      sessionUsable: false,
      account: { cost: NO_COST },
    }),
    stop: () => {},
  };
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
