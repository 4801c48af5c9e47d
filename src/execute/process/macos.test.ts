import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { parsePs } from './macos.ts';
import { NO_TRACES } from './process-entry.ts';

test('parses the lines of ps', () => {
  const text = [
    '    1     0     1 Ss   Sat Nov 15 21:57:03 2025     /sbin/launchd',
    '  812   811   811 S+   Sun Nov  2 01:02:03 2025     sleep 9 HOME=/Users/x RAYMOND_STEP_TOKEN=0f3c A=b',
    '  813   811   811 Z+   Sun Nov  2 01:02:03 2025     (sleep)',
    ' 9999     1  9999 T    Sun Nov  2 01:02:03 2025',
    'ps: a warning',
    '',
  ].join('\n');
  const unmarked = { suspended: false, traces: NO_TRACES };
  const marked = { suspended: false, traces: { ...NO_TRACES, tokens: ['0f3c'] } };
  const suspended = { ...unmarked, suspended: true };
  expect(parsePs(text)).toEqual([
    { pid: 1, parent: 0, group: 1, started: 'Sat Nov 15 21:57:03 2025', ...unmarked },
    { pid: 812, parent: 811, group: 811, started: 'Sun Nov 2 01:02:03 2025', ...marked },
    { pid: 9999, parent: 1, group: 9999, started: 'Sun Nov 2 01:02:03 2025', ...suspended },
  ]);
});

test('parses the output of ps on this machine', () => {
  const columns = 'pid=,ppid=,pgid=,state=,lstart=,command=';
  const { stdout } = spawnSync('ps', ['-axww', '-o', columns], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  });
  expect(parsePs(stdout)).toContainEqual(
    expect.objectContaining({ pid: process.pid, parent: process.ppid }),
  );
});
