/** The choices that all agents share: a model, an effort, and how much they may do. */
import * as z from 'zod/mini';
import type {
  AgentDeclaration,
  ChoiceFault,
  ChoiceLevels,
  Choices,
  StateChoice,
} from '../../model/agent.ts';
import { UserError } from '../../model/user-error.ts';
import { clip } from '../../parse/clip.ts';
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

export type SharedChoices = z.output<typeof choicesSchema>;

/** A step with the choices for it. */
export type ChosenStep = PromptStep & SharedChoices;

/** Throws for choices that cannot be made with Raymond. */
export function readChoices(agent: string, choices: Choices): SharedChoices {
  return checkedChoices(choicesSchema, agent, choices);
}

/** The same for an agent that has more choices. */
export function checkedChoices<S extends z.ZodMiniType>(
  schema: S,
  agent: string,
  choices: Choices,
): z.output<S> {
  const read = schema.safeParse(choices);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UserError(
    'bad-choice',
    `${issue?.path.join('.')} in the settings of the run is not a valid choice for ${agent}.`,
    'Start a new run of the workflow.',
  );
}

/** Whether the agent may change files by itself. In the other modes, it would have to ask. */
export function mayEdit({ permissionMode }: Pick<SharedChoices, 'permissionMode'>): boolean {
  return ['acceptEdits', 'auto'].includes(permissionMode);
}

/** The rules for the choices of an agent. */
export function sharedRules(agent: string): Pick<AgentDeclaration, 'combine' | 'tightened'> {
  const read = (choices: Choices) => readChoices(agent, choices);
  return {
    /** The tag overrides the state, and the state overrides the run. A state may only reduce permissions. */
    combine: ({ run, state, tag }: ChoiceLevels): Choices => {
      const { permissionMode, skipPermissions, ...others } = read({ ...run, ...state, ...tag });
      const ofRun = read(run);
      const asks = state.permissionMode !== undefined;
      const isStricter = ofRun.skipPermissions || (!mayEdit({ permissionMode }) && mayEdit(ofRun));
      return {
        ...(others.model !== undefined && { model: others.model }),
        ...(others.effort !== undefined && { effort: others.effort }),
        permissionMode: asks && isStricter ? permissionMode : ofRun.permissionMode,
        skipPermissions: asks ? false : skipPermissions,
      };
    },
    /** Why a turn that began with the choices `before` must not continue. */
    tightened: (before, after) => {
      const was = read(before);
      const now = read(after);
      if (was.skipPermissions && !now.skipPermissions) return 'permissions are no longer skipped';
      if (!now.skipPermissions && mayEdit(was) && !mayEdit(now))
        return `the permission mode is ${now.permissionMode}`;
      if (now.model !== undefined && now.model !== was.model) return `the model is ${now.model}`;
      return undefined;
    },
  };
}

const NAME = /^[A-Za-z0-9][\w./:@-]{0,199}$/;

function named(meaning: string, expected: string): StateChoice {
  const fault = (name: string): ChoiceFault | undefined =>
    NAME.test(name) ? undefined : 'unexpected';
  return {
    kind: 'word',
    meaning,
    expected,
    schema: { type: 'string', pattern: NAME.source },
    fault,
  };
}

const MODES: readonly string[] = ['plan', 'dontAsk', 'default', 'acceptEdits'];

const MODE: StateChoice = {
  kind: 'word',
  meaning: 'Limits what the agent may do. It cannot allow more than the run.',
  expected: `one of ${MODES.join(', ')}`,
  schema: { enum: MODES },
  fault: (mode) =>
    MODES.includes(mode)
      ? undefined
      : {
          severity: 'error',
          code: 'bad-permission-mode',
          message: `A state cannot have the permission_mode "${clip(mode)}".`,
          remedy: `Write one of ${MODES.join(', ')}.`,
        },
};

const OWN = { inTags: true, isOwn: true, isDrawn: true, isHarmless: true } as const;

/** The choices as an agent declares them. */
export const SHARED_CHOICES = {
  model: {
    name: 'model',
    inState: named('A model of the provider.', 'the name of a model'),
    ...OWN,
  },
  effort: {
    name: 'effort',
    inState: named('How hard the model thinks.', 'low, medium or high'),
    ...OWN,
  },
  permissionMode: { name: 'permissionMode', inState: MODE },
  skipPermissions: { name: 'skipPermissions' },
} as const;

/** Agents with their own tools cannot follow lists of the tools of another one. */
export function refusesTools({ disallowedTools }: Choices): string | undefined {
  return Array.isArray(disallowedTools) && disallowedTools.length > 0
    ? 'cannot follow --disallowed-tools'
    : undefined;
}
