import { openLimits } from '../model/limits.ts';
import { type Doing, isDoing } from '../model/now.ts';
import type { Run } from '../model/run.ts';
import { atWork } from '../model/tally.ts';
import { waitsIn } from '../model/wait.ts';
import type { PlacedPiece, Row } from '../observe/block.ts';
import type { Piece } from '../observe/screen.ts';
import { widthOf } from '../observe/screen.ts';
import { cents, elapsed, time, waitsText } from '../observe/words.ts';
import { shortened } from './shortened.ts';

export interface FooterFrame {
  readonly width: number;
  readonly now: number;
  readonly doing: ReadonlyMap<string, Doing>;
  readonly isLost?: boolean | undefined;
  readonly hint: Hint;
}

/** What the user may press. It is shown at the right end, if there is room. */
export interface Hint {
  readonly text: string;
  readonly isNeeded: boolean;
}

/** The whole run in a few words: on one row if the screen is wide enough. */
export function footer(run: Run, { width, now, doing, hint, isLost }: FooterFrame): readonly Row[] {
  const { tally, settings, endedAgents } = run;
  const budget = settings.budgetUsd > 0 ? ` of ${cents(settings.budgetUsd)}` : '';
  const running = atWork(tally) - tally.queued;
  const waits = run.status.kind === 'ended' ? [] : waitsIn(run, now, !isLost);
  const waiting = (isForPerson: boolean, tone: Piece['tone']): readonly Piece[] => {
    const text = waitsText(waits.filter(({ wait }) => (wait.for === 'person') === isForPerson));
    return text === '' ? [] : [{ text, tone }];
  };
  const spent = spentNow(run, doing);
  const pieces: readonly Piece[] = [
    { text: run.id, tone: 'strong' },
    plain(elapsed(run.workedMs + (running > 0 ? now - run.updatedAt : 0))),
    plain(`${cents(run.totalCostUsd + spent, run.isPriced || spent > 0)}${budget}`),
    ...count(tally.failed, 'failed', 'bad'),
    ...waiting(true, 'warning'),
    ...standing(run, running, isLost),
    ...waiting(false, 'faint'),
    ...count(endedAgents.size, 'ended', 'good'),
  ];
  return [...notices(run, width, now), ...withHint(flow(pieces, width), hint, width)];
}

function standing({ status }: Run, running: number, isLost = false): readonly Piece[] {
  if (isLost) return [{ text: 'crashed', tone: 'bad' }];
  return status.kind === 'ended' ? [] : [plain(`${running} running`)];
}

/** What the running steps have cost so far. */
function spentNow({ agents }: Run, doing: ReadonlyMap<string, Doing>): number {
  let sum = 0;
  for (const [id, now] of doing) {
    const agent = agents.get(id);
    if (agent && isDoing(agent, now)) sum += now.spentUsd ?? 0;
  }
  return sum;
}

const plain = (text: string): Piece => ({ text, tone: 'plain' });

function count(n: number, what: string, tone: Piece['tone']): readonly Piece[] {
  return n > 0 ? [{ text: `${n} ${what}`, tone }] : [];
}

/** The reasons why the run, or the prompts of an executor, wait. */
function notices({ status, limits }: Run, width: number, now: number): readonly Row[] {
  const texts =
    status.kind === 'stopping'
      ? [STOPPING[status.how]]
      : status.kind === 'ended'
        ? []
        : openLimits(limits, now).map(
            ({ text, until }) => `${text}: ${elapsed(until - now)} left, until ${time(until, now)}`,
          );
  return texts.map((text) => ({ pieces: [{ text: shortened(text, width), tone: 'warning' }] }));
}

const STOPPING = {
  drain: 'stopping: no new step starts, running ones may finish',
  now: 'stopping: running steps are stopped',
};

interface FlowedRow {
  readonly pieces: PlacedPiece[];
  width: number;
}

function flow(pieces: readonly Piece[], width: number): readonly FlowedRow[] {
  const rows: FlowedRow[] = [];
  for (const { text, tone } of pieces) {
    const short = shortened(text, width);
    const row = rows.at(-1);
    if (row && row.width + GAP.length + widthOf(short) <= width) {
      row.pieces.push({ text: GAP, tone: 'faint' }, { text: short, tone });
      row.width += GAP.length + widthOf(short);
    } else rows.push({ pieces: [{ text: short, tone }], width: widthOf(short) });
  }
  return rows;
}

/** A hint that waits for the user gets a row of its own, if it needs one. */
function withHint(rows: readonly FlowedRow[], hint: Hint, width: number): readonly Row[] {
  const text = shortened(hint.text, width);
  const piece = { text, tone: 'faint', column: width - widthOf(text) } as const;
  const last = rows.at(-1);
  const hasRoom = text !== '' && last !== undefined && last.width + GAP.length <= piece.column;
  if (hasRoom) last.pieces.push(piece);
  const own = text !== '' && !hasRoom && hint.isNeeded ? [{ pieces: [piece] }] : [];
  return [...rows.map(({ pieces }) => ({ pieces })), ...own];
}

const GAP = ' · ';
