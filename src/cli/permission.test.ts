import { expect, test } from 'vitest';
import { onePermission } from './permission.ts';

const one = (options: Parameters<typeof onePermission>[0]) => onePermission(options, 'The file');

test.each([
  [{}, {}],
  [{ dangerouslySkipPermissions: true }, { dangerouslySkipPermissions: true }],
  [{ permissionMode: 'plan' }, { permissionMode: 'plan', dangerouslySkipPermissions: false }],
  [
    { permissionMode: 'bypassPermissions' },
    { permissionMode: 'acceptEdits', dangerouslySkipPermissions: true },
  ],
])('%j means %j', (options, meant) => {
  expect(one(options)).toEqual(meant);
});

test.each([
  [{ permissionMode: 'plan', dangerouslySkipPermissions: true }, 'to skip'],
  [{ permissionMode: 'bypassPermissions', dangerouslySkipPermissions: false }, 'not to skip'],
])('%j is refused', (options, says) => {
  expect(() => one(options)).toThrow(`The file asks ${says} permissions, but names the`);
});
