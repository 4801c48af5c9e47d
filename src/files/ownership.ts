/**
 * Why a file cannot be trusted: another user can change it. On Windows, owners and modes carry no
 * such information, so there is never a problem.
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
