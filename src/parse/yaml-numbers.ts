/** The numbers in the YAML files of Raymond. Readers, schemas and messages use this table. */

export interface NumberKind {
  /** Names the number in messages. */
  readonly expected: string;
  readonly isWhole?: true;
  readonly least: number;
  /** `least` itself does not fit. */
  readonly isAbove?: true;
  readonly most?: number;
}

export const USD: NumberKind = { expected: 'an amount of USD', least: 0 };
export const USD_ABOVE_0: NumberKind = {
  ...USD,
  expected: 'an amount of USD above 0',
  isAbove: true,
};
export const SECONDS: NumberKind = { expected: 'seconds', least: 0 };

/** In milliseconds, it is still a number that can be counted to. */
export const IDLE_SECONDS: NumberKind = {
  expected: 'a number of seconds, or 0 for none',
  least: 0,
  most: Number.MAX_SAFE_INTEGER / 1000,
};

export const COUNT: NumberKind = {
  expected: 'a whole number that is not negative',
  isWhole: true,
  least: 0,
};
export const FROM_ONE: NumberKind = {
  expected: 'a whole number from 1 up',
  isWhole: true,
  least: 1,
};

export const FROM_TWO: NumberKind = { ...FROM_ONE, expected: 'a whole number from 2 up', least: 2 };

export function fitsKind(value: number, { isWhole, least, isAbove, most }: NumberKind): boolean {
  if (!(isWhole ? Number.isSafeInteger(value) : Number.isFinite(value))) return false;
  return value >= least && !(isAbove && value === least) && !(most !== undefined && value > most);
}
