/**
 * The permission modes that a state may choose, ordered from the strictest. A mode that is not in this list
 * may allow anything, so only the user who runs a workflow can choose it.
 */
export const STATE_MODES: readonly string[] = ['plan', 'dontAsk', 'default', 'acceptEdits'];

/** The mode of a turn: the state's mode, but never more than the run allows. */
export function stricterMode(ofRun: string, ofState: string): string {
  return strictness(ofState) < strictness(ofRun) ? ofState : ofRun;
}

function strictness(mode: string): number {
  const place = STATE_MODES.indexOf(mode);
  return place < 0 ? STATE_MODES.length : place;
}
