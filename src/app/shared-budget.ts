/**
 * One budget for several runs that work at the same time. A run begins only when its own budget is reserved,
 * so that all together never exceed the total. Unspent money returns to the budget.
 */
export interface SharedBudget {
  /** Reserves the budget of a run that began earlier, perhaps under a larger total. */
  hold(usd: number): void;
  /**
   * Reserves up to `wanted` USD for a run, and at least `least`. Waits for what others give back. Undefined if
   * it can never suffice.
   */
  take(wanted: number, least: number): Promise<number | undefined>;
  /** The run is over, or rests: `spent` of its budget does not return. */
  give(reserved: number, spent: number): void;
}

/** `total` undefined is no limit. Then `take` gives what is wanted; 0 is also unlimited there. */
export function sharedBudget(total: number | undefined): SharedBudget {
  let free = total ?? 0;
  let atWork = 0;
  const waiting: (() => void)[] = [];
  return {
    hold(usd) {
      free -= usd;
      atWork += 1;
    },
    async take(wanted, least) {
      while (total !== undefined && free < least - ROUNDING) {
        if (atWork === 0) return undefined;
        await new Promise<void>((resolve) => void waiting.push(resolve));
      }
      const usd = total === undefined ? wanted : Math.min(wanted, Math.max(free, 0));
      free -= usd;
      atWork += 1;
      return usd;
    },
    give(reserved, spent) {
      free += reserved - spent;
      atWork -= 1;
      for (const resume of waiting.splice(0)) resume();
    },
  };
}

/** Sums of amounts are not exact. */
const ROUNDING = 1e-9;
