/** The pid of the process that works on a run. Null if there is none, also while a run waits for one. */
export function pidOf(
  owner: { readonly pid: number; readonly isAwaited?: true } | undefined,
): number | null {
  return !owner || owner.isAwaited ? null : owner.pid;
}
