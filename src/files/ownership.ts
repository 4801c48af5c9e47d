import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Why a file cannot be trusted: another user can change it. On Windows, owners and modes say nothing
 * about this, so there is never a problem.
 */
export function ownershipProblem({
  uid,
  mode,
}: {
  readonly uid: number;
  readonly mode: number;
}): string | undefined {
  if (process.getuid === undefined) return undefined;
  if (!isOwner(uid)) return 'it belongs to another user';
  if ((mode & 0o022) !== 0)
    return `other users can change it (its mode is ${(mode & 0o777).toString(8).padStart(4, '0')})`;
  return undefined;
}

/** The user, or the administrator, who can change everything anyway. */
export function isOwner(uid: number): boolean {
  return process.getuid === undefined || uid === process.getuid() || uid === 0;
}

/**
 * Why a file cannot be trusted although its folder can: it has another name, under which an agent may be
 * allowed to change it. `stat` is asked again, because names come and go.
 */
export function linkProblem(path: string, stat: () => Stats): string | undefined {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const found = stat();
    if (found.nlink <= 1 || found.nlink === 1 + namesOfRaymond(path, found)) return undefined;
  }
  return 'it has a second name (a hard link), under which someone may change it';
}

const MOST_TRIES = 3;

/**
 * Raymond briefly gives a file a second name beside the first. That name stays if Raymond is killed at
 * that moment.
 */
function namesOfRaymond(path: string, { ino, dev }: Stats): number {
  const folder = dirname(path);
  const names = readdirSync(folder).filter((name) => SECOND_NAME.test(name));
  return names.filter((name) => {
    const found = lstatSync(join(folder, name), { throwIfNoEntry: false });
    return found?.ino === ino && found.dev === dev;
  }).length;
}

const SECOND_NAME = /^\..*\.[0-9a-f]{8}\.tmp$|\.(?:broken|old)-\d+$/;
