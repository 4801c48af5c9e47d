/**
 * A separate process table, as in a container. From inside, only its own processes are visible, and
 * the first one is pid 1. The files are shared.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The start of a command line that runs in a container. */
export const CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
/** The same without root, on systems that allow user namespaces for all users. */
const UNPRIVILEGED = ['unshare', '--user', '--map-root-user', ...CONTAINER.slice(1)];

/** Throws if containers are not available. On Linux, root has them, and on most machines all users. */
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

/**
 * The pid of the first child of a process. For `unshare`, it is the first process in the container, as seen
 * from outside.
 */
export function firstProcessOf(parent: number): number {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8');
  return Number.parseInt(children, 10);
}
