/** Admits a limited number of users at a time; the others wait in order. */
export interface Gate {
  enter(): Promise<Leave>;
  /** Counts a user that is already inside, even beyond the limit. */
  count(): Leave;
  /** The number of waiting users. */
  readonly waiting: number;
}

/** Only the first call has an effect. */
export type Leave = () => void;

/** `whenFull` gets the number of waiting users, so that it can make others leave. */
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

/** The place of a process. It may rest: others then use its place. */
export interface Place {
  rest(): void;
  /** Takes a place again, even beyond the limit. */
  work(): void;
}

/** Holds a place until a process has ended. */
export function placeUntil(ended: Promise<unknown>, places: Gate, leave: Leave): Place {
  let current = leave;
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
    current();
  });
  return {
    rest: () => current(),
    work: () => {
      if (!hasEnded) current = places.count();
    },
  };
}
