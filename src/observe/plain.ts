import { unreachable } from '../model/unreachable.ts';
import type { Live, Observer } from '../ports.ts';
import { type AlarmsOf, Describer, type Line } from './describe.ts';
import { type Looks, ownLine, quotedLines } from './screen.ts';
import { clockTime } from './words.ts';

export interface PlainOptions {
  readonly show: (line: Line) => void;
  readonly verbosity: 'quiet' | 'normal' | 'verbose';
  readonly alarmsOf: AlarmsOf;
}

/** One line per event: time, agent, text. It can be read live and searched later. */
export function plainObserver({ show, verbosity, alarmsOf }: PlainOptions): Observer {
  const describer = new Describer(alarmsOf);
  return {
    event(event, before, after) {
      const line = describer.describe(event, before, after);
      if (!line || (verbosity === 'quiet' && !QUIET_TONES.has(line.tone))) return;
      if (line.tone === 'detail' && verbosity !== 'verbose') return;
      show(line);
    },
    live({ agent: who }, live) {
      for (const said of liveLines(live, verbosity)) show({ at: Date.now(), who, ...said });
    },
  };
}

export function formatLine(
  { at, who, tone, text, isQuote }: Line,
  looks: Looks,
  indent = '',
): string {
  const lead = `${indent}${clockTime(at)} ${who.padEnd(6)} `;
  if (isQuote) return quotedLines({ text, lead, tone }, looks);
  const pieces = [
    { text: lead, tone: 'plain' },
    { text, tone },
  ] as const;
  // Lines about the run contain commands to copy, and almost no text of others.
  return ownLine(pieces, who === 'run' ? { color: looks.color } : looks);
}

const QUIET_TONES: ReadonlySet<Line['tone']> = new Set(['warning', 'bad']);

function liveLines(
  live: Live,
  verbosity: PlainOptions['verbosity'],
): readonly Pick<Line, 'tone' | 'text' | 'isQuote'>[] {
  switch (live.kind) {
    case 'print':
      return quotes(live.text, 'plain');
    case 'denied':
      return [{ tone: 'warning', text: `was not allowed to use ${live.tool}` }];
    case 'note':
      return verbosity === 'quiet' ? [] : [{ tone: 'faint', text: live.text }];
    case 'prompt':
    case 'text':
      return verbosity === 'verbose' ? quotes(live.text, 'faint') : [];
    case 'tool':
      return verbosity === 'verbose'
        ? [{ tone: 'faint', text: `> ${live.name} ${live.summary}` }]
        : [];
    default:
      return unreachable(live);
  }
}

/** All lines of a quote are one line of the report, which is written in one piece. */
function quotes(text: string, tone: Line['tone']) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return [];
  return [{ tone, text: lines.map((line) => line.trimEnd()).join('\n'), isQuote: true }] as const;
}
