import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { callFilterFile } from './call-filter-file.ts';
import { callFilter, type Sockets } from './system-calls.ts';

const REFUSED = '1';
const UNKNOWN = '38';

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('in the kernel', () => {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-filter-'));
  /** `0`, or the number of the error. */
  const inside = (code: string, sockets: Sockets = 'no files') =>
    execFileSync(
      'bwrap',
      ['--ro-bind', '/', '/', '--dev', '/dev', '--seccomp', '3', 'perl', '-e', code],
      {
        stdio: ['ignore', 'pipe', 'inherit', openSync(callFilterFile(folder, sockets), 'r')],
        encoding: 'utf8',
      },
    );
  const call = (...args: readonly number[]) =>
    inside(`my $r = syscall(${args.join(', ')}); print $r < 0 ? $! + 0 : 0`);
  const socket = (family: number, sockets?: Sockets) =>
    inside(`print socket(S, ${family}, 1, 0) ? 0 : $! + 0`, sockets);

  test.each([
    ['a socket that is a file', socket(1), REFUSED],
    ['the same, for the proxies', socket(1, 'files'), '0'],
    ['a socket of IPv4', socket(2), '0'],
    ['a socket of a virtual machine', socket(40), REFUSED],
    ['a keyring', call(250, 0, -3, 0), REFUSED],
    ['io_uring', call(425, 1, 0), UNKNOWN],
    ['clone3', call(435, 0, 0), UNKNOWN],
    ['a namespace for cgroups', call(272, 0x02000000), REFUSED],
    ['typing into a terminal', call(16, 0, 0x5412, 0), REFUSED],
    ['the same, with bits that the kernel ignores', call(16, 0, 0x100005412, 0), REFUSED],
    ['the other form of a call', call(0x40000000 + 39), UNKNOWN],
    ['a call that everybody needs', call(39), '0'],
  ])('%s', (_, seen, expected) => {
    expect(seen).toBe(expected);
  });
});

test('every processor with a filter has all of its parts, and others have none', () => {
  const sizes = ['x64', 'arm64', 'riscv64'].map((arch) => callFilter(arch, 'files')?.length);
  expect(sizes).toEqual([488, 472, undefined]);
});
