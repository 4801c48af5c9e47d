import { openLimits } from '../model/limits.ts';
import type { Run } from '../model/run.ts';
import { atWork, waitsForPerson } from '../model/tally.ts';
import { waitsIn } from '../model/wait.ts';
import type { Row } from '../observe/block.ts';
import type { Piece } from '../observe/screen.ts';
import { widthOf } from '../observe/screen.ts';
import { elapsed, time, usd, waitsText } from '../observe/words.ts';
import { shortened } from './shortened.ts';

/** The whole run in a few words: on one row if the screen is wide enough. */
export function footer(run: Run, width: number, now: number): readonly Row[] {
  const { tally, settings, endedAgents } = run;
  const budget = settings.budgetUsd > 0 ? ` of ${usd(settings.budgetUsd)}` : '';
  const running = atWork(tally) - tally.queued;
  const asking = waitsForPerson(tally);
  const waiting = waitsText(waitsIn(run, now));
  const pieces: readonly Piece[] = [
    plain(run.id),
    plain(`${usd(run.totalCostUsd, run.isPriced)}${budget}`),
    { text: `${running} running`, tone: running > 0 ? 'plain' : 'faint' },
    ...count(asking, asking === 1 ? 'asks you' : 'ask you', 'warning'),
    ...(waiting === '' ? [] : [plain(waiting)]),
    ...count(tally.failed, 'failed', 'bad'),
    ...count(endedAgents.size, 'ended', 'good'),
    plain(elapsed(run.workedMs + (running > 0 ? now - run.updatedAt : 0))),
  ];
  return [...notices(run, width, now), ...flow(pieces, width)];
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
      : openLimits(limits, now).map(
          ({ text, until }) => `${text}: ${elapsed(until - now)} left, until ${time(until, now)}`,
        );
  return texts.map((text) => ({ pieces: [{ text: shortened(text, width), tone: 'warning' }] }));
}

const STOPPING = {
  drain: 'stopping: no new step starts, running ones may finish',
  now: 'stopping: running steps are stopped',
};

function flow(pieces: readonly Piece[], width: number): readonly Row[] {
  const rows: { pieces: Piece[]; width: number }[] = [];
  for (const { text, tone } of pieces) {
    const short = shortened(text, width);
    const row = rows.at(-1);
    if (row && row.width + GAP.length + widthOf(short) <= width) {
      row.pieces.push({ text: GAP, tone: 'plain' }, { text: short, tone });
      row.width += GAP.length + widthOf(short);
    } else rows.push({ pieces: [{ text: short, tone }], width: widthOf(short) });
  }
  return rows.map((row) => ({ pieces: row.pieces }));
}

const GAP = '  ';
