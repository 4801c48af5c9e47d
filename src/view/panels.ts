import type { Run } from '../model/run.ts';
import { shellWord } from '../model/shell-word.ts';
import { atWork } from '../model/tally.ts';
import type { Row } from '../observe/block.ts';
import type { Piece } from '../observe/screen.ts';
import { shortened } from './shortened.ts';

/** Rows below the footer that the user has opened with a key. */
export type Panel = 'keys' | 'stop';

export interface PanelFrame {
  readonly width: number;
  /** Whether the user only watches a run that another command has started. */
  readonly isWatched: boolean;
}

export function panelRows(
  panel: Panel,
  run: Run,
  { width, isWatched }: PanelFrame,
): readonly Row[] {
  const rows = panel === 'stop' ? stopRows(run) : keyRows(isWatched);
  return [EMPTY, ...rows].map(([key, text]) => ({
    pieces: [
      ...(key === undefined ? [] : [fitted({ text: `  ${key}`, tone: 'accent' }, width)]),
      ...(text === undefined || width < NARROWEST
        ? []
        : [{ ...fitted({ text, tone: 'plain' }, width - KEY_CELLS), column: KEY_CELLS }]),
    ],
  }));
}

type KeyRow = readonly [key: string | undefined, text: string | undefined];

const EMPTY: KeyRow = [undefined, undefined];
const KEY_CELLS = 14;
const NARROWEST = 24;

const fitted = ({ text, tone }: Piece, cells: number): Piece => ({
  text: text.startsWith('  ') ? `  ${shortened(text, cells - 2)}` : shortened(text, cells),
  tone,
});

function keyRows(isWatched: boolean): readonly KeyRow[] {
  return [
    ['Up, Down', 'choose an agent'],
    ['Enter, w', 'open its conversation; write to it while it works'],
    ['a', 'answer the oldest question; Esc sets it aside'],
    ['s', 'stop the run, after a confirmation'],
    isWatched
      ? ['q, Ctrl-C', 'stop watching; the run continues']
      : ['Ctrl-C', 'stop the run; again: stop its running steps, too'],
    ['Esc', 'close this, or choose no agent'],
  ];
}

function stopRows({ id, tally }: Run): readonly KeyRow[] {
  const running = atWork(tally) - tally.queued;
  const first =
    running === 0
      ? 'no further step starts'
      : `${running === 1 ? 'the running step finishes' : `${running} running steps finish`} first, and no other starts`;
  return [
    ['y', `stop ${id}: ${first}`],
    ...(running === 0
      ? []
      : [['k', 'stop it now: running steps are interrupted, and repeated later'] as const]),
    ['n, Esc', 'do not stop it'],
    [undefined, `To continue it later: raymond resume ${shellWord(id)}`],
  ];
}
