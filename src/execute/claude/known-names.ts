/** Names that Claude Code knows. The installed version may know further efforts and modes. */
import { STATE_MODES } from '../agents/permission-modes.ts';

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

/** This mode is the same as skipping permissions. */
export const BYPASS = 'bypassPermissions';

export const PERMISSION_MODES: readonly string[] = [...STATE_MODES, 'manual', 'auto', BYPASS];
