/** Which lines of the log are shown. */
import type { LogLine } from '../../src/serve/shapes/changes.ts';

export const LOG_KINDS = ['all', 'moves', 'questions', 'problems'] as const;
export type LogKind = (typeof LOG_KINDS)[number];

export const LOG_KIND_NAMES: Readonly<Record<LogKind, string>> = {
  all: 'All',
  moves: 'Transitions',
  questions: 'Questions',
  problems: 'Problems',
};

export interface LogFilter {
  readonly kind: LogKind;
  /** Empty for all agents. */
  readonly agent: string;
  /** Starts of steps, and what else a reader of a finished run does not miss. */
  readonly details: boolean;
}

export function isShown(line: LogLine, { kind, agent, details }: LogFilter): boolean {
  if (agent !== '' && line.who !== agent) return false;
  if (!details && (line.tone === 'detail' || line.tone === 'faint')) return isNotice(line);
  switch (kind) {
    case 'all':
      return true;
    case 'moves':
      return MOVES.has(line.type);
    case 'questions':
      return /^(?:permission|question)-|^agent-(?:asked|answered)$/.test(line.type);
    case 'problems':
      return line.tone === 'bad' || (line.tone === 'warning' && line.type !== 'agent-asked');
  }
}

const MOVES: ReadonlySet<string> = new Set([
  ...['run-started', 'run-resumed', 'run-ended', 'run-rewound'],
  ...['agent-moved', 'agent-forked', 'agent-ended', 'join-started', 'join-reported'],
]);

/** The server says that it leaves something out. */
const isNotice = ({ type }: LogLine) => type === 'omitted';
