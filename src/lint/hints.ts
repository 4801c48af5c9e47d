/**
 * Searching for the name that an author meant is the most expensive part of a diagnostic, so the number
 * of searches is limited. No author reads more hints than that.
 */
export function limitedHints(): <T>(search: () => T) => T | undefined {
  let left = MOST_HINTS;
  return (search) => {
    if (left === 0) return undefined;
    left -= 1;
    return search();
  };
}

const MOST_HINTS = 1_000;
