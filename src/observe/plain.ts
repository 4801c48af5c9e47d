import type { RunEvent, RunEventOf } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { unreachable } from '../model/unreachable.ts';
import type { Live, Observer } from '../ports.ts';
import { type AlarmsOf, Describer, type Line } from './describe.ts';
import { type Looks, ownLine, quotedLines, widthOf } from './screen.ts';
import { clockTime } from './words.ts';

export interface PlainOptions {
  readonly show: (line: Line) => void;
  readonly verbosity: 'quiet' | 'normal' | 'verbose';
  /** Leaves out that steps start and how to answer, because the user sees both in the live view. */
  readonly hasView?: boolean;
  readonly alarmsOf: AlarmsOf;
  /** The standard error of a script; shown only with `verbose`. */
  readonly errorsOf?: (agent: string, step: number) => string;
}

/** One line per event: time, agent, text. It can be read live and searched later. */
export function plainObserver(options: PlainOptions): Observer {
  const { show, verbosity, alarmsOf, errorsOf } = options;
  const describer = new Describer(alarmsOf, !options.hasView);
  return {
    event(event, before, after) {
      if (errorsOf && verbosity === 'verbose' && isEndOfScript(event, before)) {
        const { at, agent: who, step } = event;
        for (const said of quotes(errorsOf(who, step), 'faint')) show({ at, who, ...said });
      }
      const line = describer.describe(event, before, after);
      if (!line || (verbosity === 'quiet' && !QUIET_TONES.has(line.tone))) return;
      if (line.tone === 'detail' && verbosity !== 'verbose') return;
      if (options.hasView && event.type === 'step-started') return;
      show(line);
    },
    live({ agent: who }, live) {
      for (const said of liveLines(live, verbosity)) show({ at: Date.now(), who, ...said });
    },
  };
}

/** A script that fails has the end of its standard error in its failure. */
function isEndOfScript(
  event: RunEvent,
  before: Run | undefined,
): event is RunEventOf<'step-ended'> {
  if (event.type !== 'step-ended') return false;
  const status = before?.agents.get(event.agent)?.status;
  return status?.kind === 'running' && status.session === undefined;
}

export function formatLine(
  { at, who, tone, text, isQuote }: Line,
  looks: Looks,
  indent = '',
): string {
  const lead = `${indent}${clockTime(at)} ${who.padEnd(6)} `;
  if (isQuote) return quotedLines({ text, lead, tone }, looks);
  const behind = (start: string, words: string) =>
    [
      { text: start, tone: 'faint' },
      { text: words, tone },
    ] as const;
  const [, words, command] = (who === 'run' && /^(.+: )(raymond .+)$/.exec(text)) || [];
  const isWide = looks.columns !== undefined && widthOf(`${lead}${text}`) > looks.columns;
  if (words === undefined || command === undefined || !isWide)
    return ownLine(behind(lead, text), looks);
  // A command to copy is never wrapped.
  const blank = ' '.repeat(lead.length);
  return `${ownLine(behind(lead, words.trimEnd()), looks)}${ownLine(behind(blank, command), { color: looks.color })}`;
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
    case 'warning':
      return [{ tone: 'warning', text: live.text }];
    case 'note':
      return verbosity === 'quiet' ? [] : [{ tone: 'faint', text: live.text }];
    case 'spent':
      return [];
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
export function quotes(text: string, tone: Line['tone']) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return [];
  return [{ tone, text: lines.map((line) => line.trimEnd()).join('\n'), isQuote: true }] as const;
}
