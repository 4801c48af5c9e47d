/** Lets only so many in at a time; the others wait for their turn. */
export interface Gate {
  enter(): Promise<Leave>;
  /** For one that is inside already, whatever the number says. */
  count(): Leave;
  /** How many wait. */
  readonly waiting: number;
}

/** May be called again; only the first call counts. */
export type Leave = () => void;

/** `whenFull` is told how many wait, and may see to it that others leave. */
export function gate(places: number, whenFull: (waiting: number) => void = () => {}): Gate {
  let free = places;
  const queue: (() => void)[] = [];
  const count = (): Leave => {
    free--;
    let hasLeft = false;
    return () => {
      if (hasLeft) return;
      hasLeft = true;
      free++;
      if (free > 0) queue.shift()?.();
    };
  };
  return {
    count,
    enter() {
      if (free > 0) return Promise.resolve(count());
      return new Promise((resolve) => {
        queue.push(() => resolve(count()));
        whenFull(queue.length);
      });
    },
    get waiting() {
      return queue.length;
    },
  };
}
