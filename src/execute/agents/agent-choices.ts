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
import { nearest, suggestion } from '../../parse/nearest.ts';
import type { PromptStep } from '../../ports.ts';
import { STATE_MODES, stricterMode } from './permission-modes.ts';

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

type Permissions = Pick<SharedChoices, 'permissionMode' | 'skipPermissions'>;

/** The permissions of a turn. A state may only reduce those of the run. */
export function permissionsFor(run: Permissions, state: Choices): Permissions {
  const { permissionMode, skipPermissions } = run;
  const { permissionMode: asked } = state;
  if (typeof asked !== 'string') return { permissionMode, skipPermissions };
  const mode = skipPermissions ? asked : stricterMode(permissionMode, asked);
  return { permissionMode: mode, skipPermissions: false };
}

type Limited = Permissions & Pick<SharedChoices, 'model'>;

/** Why a turn that began with the choices `was` must not continue. */
export function tightenedBy(was: Limited, now: Limited): string | undefined {
  if (was.skipPermissions && !now.skipPermissions) return 'permissions are no longer skipped';
  const mode = stricterMode(was.permissionMode, now.permissionMode);
  if (!now.skipPermissions && mode !== was.permissionMode) return `the permission mode is ${mode}`;
  if (now.model !== undefined && now.model !== was.model) return `the model is ${now.model}`;
  return undefined;
}

/** The rules for the choices of an agent. */
export function sharedRules(agent: string): Pick<AgentDeclaration, 'combine' | 'tightened'> {
  const read = (choices: Choices) => readChoices(agent, choices);
  return {
    /** The tag overrides the state, and the state overrides the run. */
    combine: ({ run, state, tag }: ChoiceLevels): Choices => {
      const { model, effort } = read({ ...run, ...state, ...tag });
      return {
        ...(model !== undefined && { model }),
        ...(effort !== undefined && { effort }),
        ...permissionsFor(read(run), state),
      };
    },
    tightened: (before, after) => tightenedBy(read(before), read(after)),
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

export const MODE_OF_STATE: StateChoice = {
  kind: 'word',
  meaning: 'Limits what the agent may do without asking. It cannot allow more than the run.',
  expected: 'the name of a mode',
  schema: { enum: STATE_MODES },
  fault: (mode) => {
    if (STATE_MODES.includes(mode)) return undefined;
    const message = `A state cannot have the permission_mode "${clip(mode)}": a workflow may ask for ${STATE_MODES.join(', ')}.`;
    const otherwise =
      'Remove the key. Only the person who starts a run can allow more, with --permission-mode.';
    const details = suggestion(nearest(mode, STATE_MODES), otherwise);
    return { severity: 'error', code: 'bad-permission-mode', message, ...details };
  },
};

/** For a choice whose values mean something to one agent only. */
export const OWN = { inTags: true, isOwn: true, isDrawn: true, isHarmless: true } as const;

/** The choices as an agent declares them. */
export const SHARED_CHOICES = {
  model: {
    name: 'model',
    inState: named('A model of the provider.', 'the name of a model'),
    inLanes: true,
    ...OWN,
  },
  effort: {
    name: 'effort',
    inState: named('How hard the model thinks.', 'low, medium or high'),
    ...OWN,
  },
  permissionMode: { name: 'permissionMode', inState: MODE_OF_STATE },
  skipPermissions: { name: 'skipPermissions' },
} as const;

/** Agents with their own tools cannot follow lists of the tools of another one. */
export function refusesTools({ disallowedTools }: Choices): string | undefined {
  return Array.isArray(disallowedTools) && disallowedTools.length > 0
    ? 'cannot follow --disallowed-tools'
    : undefined;
}
