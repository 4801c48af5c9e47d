/**
 * Reads something again when it may have changed. At most one reading is on its way. The pause after a
 * reading grows with the time that it took, so a slow server is not asked all the time.
 */
export class Refresher {
  readonly #read: () => Promise<void>;
  readonly #clock: Clock;
  #isReading = false;
  #isWanted = false;
  #isEnded = false;
  #timer: number | undefined;

  constructor(read: () => Promise<void>, clock: Clock = BROWSER) {
    this.#read = read;
    this.#clock = clock;
  }

  /** A change that happens during a reading causes one more. */
  want(): void {
    this.#isWanted = true;
    if (this.#isReading || this.#timer !== undefined || this.#isEnded) return;
    void this.#readNow();
  }

  end(): void {
    this.#isEnded = true;
    if (this.#timer !== undefined) this.#clock.clear(this.#timer);
  }

  async #readNow(): Promise<void> {
    this.#isReading = true;
    this.#isWanted = false;
    const before = this.#clock.now();
    await this.#read();
    this.#isReading = false;
    if (this.#isEnded) return;
    const pause = Math.max(SHORTEST_PAUSE, PATIENCE * (this.#clock.now() - before));
    this.#timer = this.#clock.set(() => {
      this.#timer = undefined;
      if (this.#isWanted) void this.#readNow();
    }, pause);
  }
}

export interface Clock {
  readonly now: () => number;
  readonly set: (act: () => void, ms: number) => number;
  readonly clear: (timer: number) => void;
}

const BROWSER: Clock = {
  now: () => performance.now(),
  set: (act, ms) => window.setTimeout(act, ms),
  clear: (timer) => clearTimeout(timer),
};

const SHORTEST_PAUSE = 350;
/** The pause is this many times as long as the reading. */
const PATIENCE = 5;
