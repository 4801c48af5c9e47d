/**
 * Whether others than the user can change something. What they can change cannot be believed. On
 * Windows owners and modes say nothing, and nothing is wrong.
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

/** The user, or the administrator, who can do anything. */
export function isOwner(uid: number): boolean {
  return process.getuid === undefined || uid === process.getuid() || uid === 0;
}
