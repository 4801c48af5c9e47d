import { expect, test } from 'vitest';
import {
  bootQuery,
  parseProcesses,
  processQuery,
  taskkillArguments,
  windowsWrapper,
} from './windows.ts';
import { wrap } from './wrapper.ts';

test.each([
  ['SIGINT', ['/PID', '42', '/T']],
  ['SIGTERM', ['/PID', '42', '/T']],
  ['SIGKILL', ['/PID', '42', '/T', '/F']],
] as const)('%s becomes arguments for taskkill', (signal, expected) => {
  expect(taskkillArguments(42, signal)).toEqual(expected);
});

test.each([
  ['all processes', processQuery(), 'Get-CimInstance Win32_Process | ForEach'],
  ['one process', processQuery([4]), "Win32_Process -Filter 'ProcessId=4' |"],
  ['several processes', processQuery([4, 5]), "-Filter 'ProcessId=4 OR ProcessId=5' |"],
  ['the boot', bootQuery(), 'LastBootUpTime'],
])('PowerShell query for %s', (_, args, expected) => {
  expect(args.slice(0, -1)).toEqual(['-NoLogo', '-NoProfile', '-NonInteractive', '-Command']);
  expect(args.at(-1)).toContain(expected);
});

test('ignores a parent that is younger than its child', () => {
  const text = '10 4 1000\r\n11 10 1001\r\n12 11 900\r\n4 0 1\r\n\r\nnoise\r\n';
  expect(parseProcesses(text).map(({ pid, parent }) => [pid, parent])).toEqual([
    [10, 4],
    [11, 10],
    [12, 0],
    [4, 0],
  ]);
});

test('on Windows, Node is the wrapper and passes arguments unchanged', () => {
  const [program, args] = wrap('win32', {
    mark: { key: '0', number: 0 },
    folder: 'C:\\a b',
    command: 'x.exe',
    args: ['"q"', ''],
  });
  expect(program).toBe(process.execPath);
  expect(args.slice(2)).toEqual(['--', 'C:\\a b', 'x.exe', '"q"', '']);
  expect(windowsWrapper(process.execPath, 'C:\\a b', 'x.exe', ['"q"', ''])).toEqual([
    program,
    args,
  ]);
});
