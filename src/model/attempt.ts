/** The value, or undefined if it cannot be had. For errors that say nothing more than that. */
export function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}
