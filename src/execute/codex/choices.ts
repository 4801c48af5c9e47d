/** What the choices mean for codex. */
import type { Choices } from '../../model/agent.ts';
import {
  type ChosenStep,
  mayEdit,
  readChoices as read,
  type SharedChoices,
} from '../agent-choices.ts';

export type CodexStep = ChosenStep;

/** Throws for choices that cannot be made with Raymond. */
export function readChoices(choices: Choices): SharedChoices {
  return read('codex', choices);
}

/** What the sandbox of codex allows in a permission mode. Codex never asks in `exec`. */
export type Sandbox = 'read-only' | 'workspace-write' | 'danger-full-access';

export function sandboxOf(choices: SharedChoices): Sandbox {
  if (choices.skipPermissions) return 'danger-full-access';
  return mayEdit(choices) ? 'workspace-write' : 'read-only';
}
