/**
 * Events were decided on another run than the stored one: an append expects a position, and the journal
 * is at another. Nothing was appended. Whoever can, reads what is new and decides again.
 */
export class PositionConflict extends Error {
  override readonly name = 'PositionConflict';
  /** After how many events the append belongs. */
  readonly expected: number;
  /** How many there are. */
  readonly actual: number;

  constructor(run: string, expected: number, actual: number) {
    super(
      `The events belong behind event ${expected} of ${run}, but the journal is at ${actual}. Nothing was appended.`,
    );
    this.expected = expected;
    this.actual = actual;
  }
}
