/** Names that Claude Code knows. An installed one may know further efforts and modes. */

export const MODELS: readonly string[] = ['opus', 'sonnet', 'haiku'];

/** An alias or a full id, perhaps with a variant, as in `sonnet[1m]`. */
export const MODEL_PATTERN = '^((opus|sonnet|haiku)|claude-[\\w.-]+)(\\[\\w+\\])?$';

const MODEL = new RegExp(MODEL_PATTERN);

export function isModel(text: string): boolean {
  return MODEL.test(text);
}

export const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** What an effort or a mode that Raymond does not know may look like. */
export const WORD_PATTERN = '^[A-Za-z][\\w-]{0,31}$';

const WORD = new RegExp(WORD_PATTERN);

export function isWord(text: string): boolean {
  return WORD.test(text);
}

/**
 * From the strictest on. A mode that is not here may allow anything, so that only the person who runs
 * a workflow can choose it.
 */
export const STATE_MODES: readonly string[] = ['plan', 'dontAsk', 'default', 'acceptEdits'];

/** The same as skipping permissions. */
export const BYPASS = 'bypassPermissions';

export const PERMISSION_MODES: readonly string[] = [...STATE_MODES, 'manual', 'auto', BYPASS];

/** The mode of a turn: what the state says, but never more than the run allows. */
export function stricterMode(ofRun: string, ofState: string): string {
  return strictness(ofState) < strictness(ofRun) ? ofState : ofRun;
}

function strictness(mode: string): number {
  const place = STATE_MODES.indexOf(mode);
  return place < 0 ? STATE_MODES.length : place;
}
