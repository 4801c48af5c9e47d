/** A program in bubblewrap: with files, processes and sockets of its own, and without a network. */
import { statSync } from 'node:fs';
import { attempt } from '../../model/attempt.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { Program } from '../agents/out-of-sight.ts';
import type { Confinement, Placed } from './confinement.ts';
import { sandboxProgram, socketFilter } from './sandbox-package.ts';

export function inBubblewrap(
  { command, args }: Program,
  { cwd, places, network }: Confinement,
): Program {
  return {
    command: sandboxProgram('bwrap'),
    args: [
      ...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL'],
      // For root, the filter of sockets can make its namespace only with this.
      ...(process.getuid?.() === 0 ? ['--cap-add', 'CAP_SETFCAP'] : []),
      ...(network === 'all' ? ['--share-net'] : []),
      ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', ...KERNEL_SETTINGS],
      ...places.flatMap(mountOf),
      // Places below them have been mounted by now.
      ...places.filter(isHiddenFolder).flatMap(({ path }) => ['--remount-ro', path]),
      ...['--chdir', cwd, '--', socketFilter(), command, ...args],
    ],
  };
}

/** Root owns these files, and so can write them without any capability: the kernel would run a program for it. */
export const KERNEL_SETTINGS: readonly string[] = [
  'sys',
  'sysrq-trigger',
  'irq',
  'bus',
  'fs',
].flatMap((name) => ['--ro-bind-try', `/proc/${name}`, `/proc/${name}`]);

function mountOf({ path, access }: Placed): readonly string[] {
  switch (access) {
    case 'write':
      return ['--bind', path, path];
    case 'seen':
    case 'read':
      return ['--ro-bind', path, path];
    case 'fresh':
      return ['--tmpfs', path];
    case 'hidden':
      return isFolder(path)
        ? ['--perms', '0755', '--tmpfs', path]
        : ['--ro-bind', '/dev/null', path];
    default:
      return unreachable(access);
  }
}

const isHiddenFolder = ({ path, access }: Placed) => access === 'hidden' && isFolder(path);

const isFolder = (path: string) => attempt(() => statSync(path).isDirectory()) ?? false;
