/** What the choices mean for codex. */
import { type ChosenStep, mayEdit, type SharedChoices } from '../agent-choices.ts';

export type CodexStep = ChosenStep;

/** What the sandbox of codex allows in a permission mode. Codex never asks in `exec`. */
export type Sandbox = 'read-only' | 'workspace-write' | 'danger-full-access';

export function sandboxOf(choices: SharedChoices): Sandbox {
  if (choices.skipPermissions) return 'danger-full-access';
  return mayEdit(choices) ? 'workspace-write' : 'read-only';
}
