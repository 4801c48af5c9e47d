/** Names that a coding agent knows. An installed one may know further efforts and modes. */
import { STATE_MODES } from './permissions.ts';

export const MODELS: readonly string[] = ['opus', 'sonnet', 'haiku'];

export const EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max'];

/** The same as skipping permissions. */
export const BYPASS = 'bypassPermissions';

export const PERMISSION_MODES: readonly string[] = [...STATE_MODES, 'manual', 'auto', BYPASS];

export function isModel(text: string): boolean {
  return /^(?:(?:opus|sonnet|haiku)|claude-[\w.-]+)(?:\[\w+\])?$/.test(text);
}
