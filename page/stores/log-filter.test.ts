import { expect, test } from 'vitest';
import type { LogLine } from '../../src/serve/shapes/changes.ts';
import { isShown, type LogFilter } from './log-filter.ts';

const line = (type: string, tone: LogLine['tone'] = 'plain', who = 'main'): LogLine => ({
  ...{ seq: 1, at: 0, who, tone, type, text: 'x' },
});
const ALL: LogFilter = { kind: 'all', agent: '', details: false };

test.each<[LogLine, Partial<LogFilter>, boolean]>([
  [line('agent-moved'), {}, true],
  [line('step-started', 'faint'), {}, false],
  [line('step-started', 'faint'), { details: true }, true],
  [line('omitted', 'faint', 'run'), {}, true],
  [line('agent-moved'), { agent: 'other' }, false],
  [line('agent-moved'), { kind: 'moves' }, true],
  [line('agent-asked', 'warning'), { kind: 'moves' }, false],
  [line('agent-asked', 'warning'), { kind: 'questions' }, true],
  [line('permission-asked', 'warning'), { kind: 'questions' }, true],
  [line('agent-asked', 'warning'), { kind: 'problems' }, false],
  [line('agent-failed', 'bad'), { kind: 'problems' }, true],
  [line('agent-reminded', 'warning'), { kind: 'problems' }, true],
])('%j with %j: %j', (one, filter, expected) => {
  expect(isShown(one, { ...ALL, ...filter })).toBe(expected);
});
