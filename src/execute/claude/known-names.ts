/** Names that Claude Code knows. The installed version may know further efforts and modes. */

export const MODELS: readonly string[] = ['opus', 'sonnet', 'haiku'];

/** An alias or a full id, perhaps with a variant, as in `sonnet[1m]`. */
export const MODEL_PATTERN = '^((opus|sonnet|haiku)|claude-[\\w.-]+)(\\[\\w+\\])?$';

const MODEL = new RegExp(MODEL_PATTERN);

export function isModel(text: string): boolean {
  return MODEL.test(text);
}

export const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** The form of an effort or a mode that Raymond does not know. */
export const WORD_PATTERN = '^[A-Za-z][\\w-]{0,31}$';

const WORD = new RegExp(WORD_PATTERN);

export function isWord(text: string): boolean {
  return WORD.test(text);
}

/**
 * Ordered from the strictest. A mode that is not in this list may allow anything, so only the user
 * who runs a workflow can choose it.
 */
export const STATE_MODES: readonly string[] = ['plan', 'dontAsk', 'default', 'acceptEdits'];

/** This mode is the same as skipping permissions. */
export const BYPASS = 'bypassPermissions';

export const PERMISSION_MODES: readonly string[] = [...STATE_MODES, 'manual', 'auto', BYPASS];

/** The mode of a turn: the state's mode, but never more than the run allows. */
export function stricterMode(ofRun: string, ofState: string): string {
  return strictness(ofState) < strictness(ofRun) ? ofState : ofRun;
}

function strictness(mode: string): number {
  const place = STATE_MODES.indexOf(mode);
  return place < 0 ? STATE_MODES.length : place;
}
