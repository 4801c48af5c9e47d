import type { Live, Observer } from '../ports.ts';
import { Describer, type Line } from './describe.ts';
import { clockTime, harmless } from './words.ts';

export interface PlainOptions {
  readonly write: (text: string) => void;
  readonly color: boolean;
  readonly verbosity: 'quiet' | 'normal' | 'verbose';
}

/** One line per event: time, who, what. Made to be read as it comes and to be searched later. */
export function plainObserver({ write, color, verbosity }: PlainOptions): Observer {
  const describer = new Describer();
  const put = (line: Line) => write(formatLine(line, color));
  return {
    event(event, before, after) {
      const line = describer.describe(event, before, after);
      if (!line || (verbosity === 'quiet' && !QUIET_TONES.has(line.tone))) return;
      if (line.tone === 'detail' && verbosity !== 'verbose') return;
      put(line);
    },
    live(who, live) {
      const text = liveText(live, verbosity);
      if (text === undefined) return;
      const tone = live.kind === 'denied' ? 'warning' : live.kind === 'print' ? 'plain' : 'faint';
      for (const part of harmless(text).split('\n')) {
        if (part.trim() !== '') put({ at: Date.now(), who, tone, text: part.trimEnd() });
      }
    },
  };
}

export function formatLine({ at, who, tone, text }: Line, color: boolean): string {
  const [open, close] = color ? COLORS[tone] : ['', ''];
  return `${clockTime(at)} ${who.padEnd(6)} ${open}${text}${close}\n`;
}

const QUIET_TONES: ReadonlySet<Line['tone']> = new Set(['warning', 'bad']);

const COLORS: Readonly<Record<Line['tone'], readonly [string, string]>> = {
  plain: ['', ''],
  good: ['\x1b[32m', '\x1b[39m'],
  warning: ['\x1b[33m', '\x1b[39m'],
  bad: ['\x1b[31m', '\x1b[39m'],
  faint: ['\x1b[2m', '\x1b[22m'],
  detail: ['\x1b[2m', '\x1b[22m'],
};

function liveText(live: Live, verbosity: PlainOptions['verbosity']): string | undefined {
  switch (live.kind) {
    case 'print':
      return live.text;
    case 'denied':
      return `was not allowed to use ${live.tool}`;
    case 'note':
      return verbosity === 'quiet' ? undefined : live.text;
    case 'text':
      return verbosity === 'verbose' ? `| ${live.text}` : undefined;
    case 'tool':
      return verbosity === 'verbose' ? `> ${live.name} ${live.summary}` : undefined;
  }
}
