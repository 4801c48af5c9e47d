/** A program in bubblewrap: with files, processes and sockets of its own, and without a network. */
import { existsSync, statSync } from 'node:fs';
import { isWithin } from '../../files/regular-file.ts';
import { attempt } from '../../model/attempt.ts';
import { unreachable } from '../../model/unreachable.ts';
import type { Program } from '../agents/out-of-sight.ts';
import { callFilterFile, FILTER_DESCRIPTOR } from './call-filter-file.ts';
import type { Confinement, Placed } from './confinement.ts';
import { sandboxProgram } from './sandbox-package.ts';

/** A program, and the file that it reads from `FILTER_DESCRIPTOR`. */
export interface SandboxedProgram extends Program {
  readonly filter: string;
  /** All processes of the sandbox end together with the program. */
  readonly endsWhole?: boolean;
}

export function inBubblewrap(
  { command, args }: Program,
  { cwd, places: wanted, network, ownFolder }: Confinement,
): SandboxedProgram {
  const places = needed(wanted);
  return {
    filter: callFilterFile(ownFolder, 'no files'),
    endsWhole: true,
    command: sandboxProgram('bwrap'),
    args: [
      ...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL'],
      ...(network === 'all' ? ['--share-net'] : []),
      ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', ...kernelSettings()],
      ...places.flatMap(mountOf),
      // Places below them have been mounted by now.
      ...places.filter(isHiddenFolder).flatMap(({ path }) => ['--remount-ro', path]),
      ...['--seccomp', `${FILTER_DESCRIPTOR}`, '--chdir', cwd, '--', command, ...args],
    ],
  };
}

/** Each mount takes time. Below what cannot be changed, nothing else can be. */
function needed(places: readonly Placed[]): readonly Placed[] {
  return places.filter(({ path, access }, at) => {
    const around = places.slice(0, at).findLast((one) => isWithin(one.path, path));
    return !isReadOnly(access) || (around !== undefined && !isReadOnly(around.access));
  });
}

const isReadOnly = (access: Placed['access']) => access === 'seen' || access === 'read';

/**
 * Root owns these files, and so can write them without any capability: the kernel would run a program for it.
 * For everybody else, they are read-only anyway.
 */
export function kernelSettings(): readonly string[] {
  if (process.getuid?.() !== 0) return [];
  const names = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'mtrr'];
  const paths = names.map((name) => `/proc/${name}`).filter((path) => existsSync(path));
  return paths.flatMap((path) => ['--ro-bind', path, path]);
}

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
