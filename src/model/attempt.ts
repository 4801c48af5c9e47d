/** The value, or undefined after any error. For errors that need no report. */
export function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** The value of a JSON text; undefined if it is none. */
export function parsed(text: string | undefined): unknown {
  return text === undefined ? undefined : attempt(() => JSON.parse(text));
}
