/**
 * The events were decided for a state of the run that is not the stored one: the journal is not at the
 * expected position. Nothing was appended. The caller may read the new events and decide again.
 */
export class PositionConflict extends Error {
  override readonly name = 'PositionConflict';
  /** The number of events that the append expects before it. */
  readonly expected: number;
  /** The number of stored events. */
  readonly actual: number;

  constructor(run: string, expected: number, actual: number) {
    super(
      `The events must follow event ${expected} of ${run}, but the journal is at event ${actual}. Nothing was appended.`,
    );
    this.expected = expected;
    this.actual = actual;
  }
}
