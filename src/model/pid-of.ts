/**
 * The pid of the process that is working on a run; null if there is none, even if the run is waiting
 * for one.
 */
export function pidOf(
  owner: { readonly pid: number; readonly isAwaited?: true } | undefined,
): number | null {
  return !owner || owner.isAwaited ? null : owner.pid;
}
