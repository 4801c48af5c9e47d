/** Lets only so many through at a time: processes that start together slow each other down. */
export function startGate(places: number): () => Promise<() => void> {
  let free = places;
  const queue: (() => void)[] = [];
  const leave = () => {
    const next = queue.shift();
    if (next) next();
    else free++;
  };
  return async () => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => queue.push(resolve));
    let left = false;
    return () => {
      if (left) return;
      left = true;
      leave();
    };
  };
}
