/**
 * To search for what an author meant costs more than all else that is said of a fault. So it is
 * searched for a limited number of times: nobody reads more hints than that.
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
