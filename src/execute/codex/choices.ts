/** The choices for codex, and what they mean for it. */
import * as z from 'zod/mini';
import type { ChoiceLevels, Choices } from '../../model/agent.ts';
import { UserError } from '../../model/user-error.ts';
import type { PromptStep } from '../../ports.ts';

const text = z.string();
/** A journal may come from anyone, so a value must look like a name. */
const word = text.check(z.regex(/^[A-Za-z0-9][\w./:@-]*$/));

const choicesSchema = z.object({
  model: z.optional(word),
  effort: z.optional(word),
  permissionMode: z._default(word, 'acceptEdits'),
  skipPermissions: z._default(z.boolean(), false),
});

export type CodexChoices = z.output<typeof choicesSchema>;

/** A step with the choices for it. */
export type CodexStep = PromptStep & CodexChoices;

/** Throws for choices that cannot be made with Raymond. */
export function readChoices(choices: Choices): CodexChoices {
  const read = choicesSchema.safeParse(choices);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UserError(
    'bad-choice',
    `${issue?.path.join('.')} in the settings of the run is not a valid choice for codex.`,
    'Start a new run of the workflow.',
  );
}

/** The tag overrides the state, and the state overrides the run. A state may only reduce permissions. */
export function combine({ run, state, tag }: ChoiceLevels): Choices {
  const { permissionMode, skipPermissions, ...others } = readChoices({ ...run, ...state, ...tag });
  const ofRun = readChoices(run);
  const asks = state.permissionMode !== undefined;
  const isLooser =
    ofRun.skipPermissions || strictness(permissionMode) < strictness(ofRun.permissionMode);
  return {
    ...(others.model !== undefined && { model: others.model }),
    ...(others.effort !== undefined && { effort: others.effort }),
    permissionMode: asks && isLooser ? permissionMode : ofRun.permissionMode,
    skipPermissions: asks ? false : skipPermissions,
  };
}

/** Why a turn that began with the choices `before` must not continue. */
export function tightened(before: Choices, after: Choices): string | undefined {
  const was = readChoices(before);
  const now = readChoices(after);
  if (was.skipPermissions && !now.skipPermissions) return 'permissions are no longer skipped';
  if (!now.skipPermissions && strictness(now.permissionMode) < strictness(was.permissionMode))
    return `the permission mode is ${now.permissionMode}`;
  if (now.model !== undefined && now.model !== was.model) return `the model is ${now.model}`;
  return undefined;
}

/** What the sandbox of codex allows in a permission mode. Codex never asks in `exec`. */
export type Sandbox = 'read-only' | 'workspace-write' | 'danger-full-access';

export function sandboxOf({ permissionMode, skipPermissions }: CodexChoices): Sandbox {
  if (skipPermissions) return 'danger-full-access';
  return strictness(permissionMode) === 0 ? 'read-only' : 'workspace-write';
}

/** In the other modes, the agent would have to ask before it changes a file. */
function strictness(mode: string): number {
  return ['acceptEdits', 'auto'].includes(mode) ? 1 : 0;
}
