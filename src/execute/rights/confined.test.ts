import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { confined } from './confined.ts';
import type { Confinement } from './confinement.ts';
import { sandboxProgram, systemProgram } from './sandbox-package.ts';

const wanted = { folder: '/step', command: '/bin/true', args: ['x'] };
const confine: Confinement = {
  cwd: '/p',
  temporary: '/t',
  places: [],
  network: [],
  ownFolder: mkdtempSync(join(tmpdir(), 'raymond-rights-')),
};

test('a command without rights stays as it is', () => {
  expect(confined(wanted)).toBe(wanted);
});

test.runIf(process.platform === 'linux')('a confined command begins in the sandbox only', () => {
  const { command, args, ...others } = confined({ ...wanted, confine });
  expect(command).toMatch(/\/bwrap$/);
  expect(args.slice(-2)).toEqual(['/bin/true', 'x']);
  expect(others).toEqual({
    folder: '/step',
    confine: undefined,
    filter: expect.any(String),
    endsWhole: true,
  });
  expect(args[args.indexOf('--seccomp') + 1]).toBe('3');
});

test.runIf(process.platform === 'linux')(
  'only what could be changed otherwise is mounted again, so that the sandbox begins sooner',
  () => {
    const places = [
      { path: '/h', access: 'seen' },
      { path: '/p', access: 'seen' },
      { path: '/p/.raymond', access: 'read' },
      { path: '/p/out', access: 'write' },
      { path: '/p/out/x', access: 'read' },
      { path: '/p/out/x/deeper', access: 'read' },
      { path: '/p/tmp', access: 'fresh' },
      { path: '/p/tmp/seen', access: 'seen' },
      { path: '/p/secret', access: 'hidden' },
      { path: '/p/secret/seen', access: 'seen' },
    ] as const;
    const { args } = confined({ ...wanted, confine: { ...confine, places } });
    const mounted = args.filter((word) => places.some(({ path }) => path === word));
    expect(new Set(mounted)).toEqual(
      new Set([
        ...['/p/out', '/p/out/x', '/p/tmp', '/p/tmp/seen', '/p/secret', '/p/secret/seen'],
        confine.cwd,
      ]),
    );
  },
);

test('without its sandbox, it does not begin', () => {
  expect(() => sandboxProgram('bwrap', '/nowhere')).toThrow('The sandbox needs bwrap');
});

test('a program of the sandbox comes from a folder of the system', () => {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-rights-'));
  writeFileSync(join(folder, 'bash'), '', { mode: 0o700 });
  expect(systemProgram('bash', `${folder}:/bin`)).toBe('/bin/bash');
  expect(systemProgram('bash', folder)).toBeUndefined();
});

test('a path that sandbox-runtime would take for a pattern is refused', () => {
  const places = [{ path: '/p/[a]', access: 'write' }] as const;
  const withHosts = { ...confine, places, network: ['a.org'] };
  expect(() => confined({ ...wanted, confine: withHosts })).toThrow('cannot be given the path');
});
