/**
 * A process table of its own, as a container has it: from inside, only its own processes can be seen,
 * and the first one is pid 1. The files are those of everybody.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The beginning of a command that runs in a container. */
export const CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
/** The same without being root, where the system lets everybody have a user namespace. */
const UNPRIVILEGED = ['unshare', '--user', '--map-root-user', ...CONTAINER.slice(1)];

/** Fails where there are no containers: on Linux there are, for root and on most machines for everybody. */
export function containerCommand(): readonly string[] {
  for (const command of [CONTAINER, UNPRIVILEGED]) {
    const [program = '', ...args] = command;
    const tried = spawnSync(program, [...args, 'true'], { stdio: 'ignore' });
    if (tried.status === 0) return command;
  }
  throw new Error(
    'This test needs containers. Run it on Linux as root (unshare of util-linux), or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0',
  );
}

/** The pid, as seen from here, of the first process in a container that `unshare` with this pid made. */
export function firstProcessOf(unshare: number): number {
  const children = readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8');
  return Number.parseInt(children, 10);
}
