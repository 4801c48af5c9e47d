/** Whether everything is tested, as by `npm run test:long`, however long it takes. */
export const isLong = Boolean(process.env.RAYMOND_TEST_LONG);

/** In the suite, `some` of all cases. */
export const inSuite = <T>(some: readonly T[], others: readonly T[]): readonly T[] =>
  isLong ? [...some, ...others] : some;

/** How often a property is tested: in the suite, a quarter of `most`. */
export const upTo = (most: number) => ({ numRuns: isLong ? most : most / 4 });
