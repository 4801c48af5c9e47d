import { expect, test } from 'vitest';
import { parseStat } from './linux.ts';
import { NO_TRACES } from './process-entry.ts';

const rest =
  '4194304 133 0 0 0 1 2 3 4 20 0 1 0 987654 5242880 800 18446744073709551615 1 1 0 0 0 0';

test.each([
  ['a plain name', 'S', `4242 (sleep) S 1 4240 4239 0 -1 ${rest}`],
  ['spaces', 'R', `4242 (tmux: server) R 1 4240 4239 0 -1 ${rest}`],
  ['parentheses', 'S', `4242 ((sd-pam)) S 1 4240 4239 0 -1 ${rest}`],
  ['a name that looks like the rest', 'S', `4242 (x) Z 9 9 9 () S 1 4240 4239 0 -1 ${rest}\n`],
  ['a line break', 'T', `4242 (a\nb) T 1 4240 4239 0 -1 ${rest}`],
])('reads a stat line with %s', (_, state, line) => {
  expect(parseStat(line)).toEqual({
    pid: 4242,
    parent: 1,
    group: 4240,
    session: 4239,
    started: '987654',
    suspended: state === 'T',
    traces: NO_TRACES,
  });
});

test.each([
  ['a zombie', `4242 (sleep) Z 1 4240 4239 0 -1 ${rest}`],
  ['a dead process', `4242 (sleep) X 1 4240 4239 0 -1 ${rest}`],
  ['a line that was cut off', '4242 (sleep) S 1 4240'],
  ['an empty line', ''],
])('does not list %s', (_, line) => {
  expect(parseStat(line)).toBeUndefined();
});
