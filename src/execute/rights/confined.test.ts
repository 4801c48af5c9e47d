import { expect, onTestFinished, test } from 'vitest';
import { confined } from './confined.ts';
import type { Confinement } from './confinement.ts';

const wanted = { folder: '/step', command: '/bin/true', args: ['x'] };
const confine: Confinement = { cwd: '/p', temporary: '/t', places: [], network: [] };

test('a command without rights stays as it is', () => {
  expect(confined(wanted)).toBe(wanted);
});

test.runIf(process.platform === 'linux')('a confined command begins in the sandbox only', () => {
  const { command, args, ...others } = confined({ ...wanted, confine });
  expect(command).toMatch(/\/bwrap$/);
  expect(args.slice(-2)).toEqual(['/bin/true', 'x']);
  expect(others).toEqual({ folder: '/step', confine: undefined });
});

test.runIf(process.platform === 'linux')('without its sandbox, it does not begin', () => {
  const { PATH } = process.env;
  onTestFinished(() => {
    process.env.PATH = PATH;
  });
  process.env.PATH = '/nowhere';
  expect(() => confined({ ...wanted, confine })).toThrow('The sandbox needs bwrap');
});

test('a path that sandbox-runtime would take for a pattern is refused', () => {
  const places = [{ path: '/p/[a]', access: 'write' }] as const;
  const withHosts = { ...confine, places, network: ['a.org'] };
  expect(() => confined({ ...wanted, confine: withHosts })).toThrow('cannot be given the path');
});
