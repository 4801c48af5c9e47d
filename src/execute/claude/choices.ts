/** Combines the choices of the run, the state and the tag into those of a turn. */
import * as z from 'zod/mini';
import type { ChoiceLevels, Choices } from '../../model/agent.ts';
import type { PromptStep } from '../../ports.ts';
import { checkedChoices, mayEdit, permissionsFor, tightenedBy } from '../agents/agent-choices.ts';
import { stricterMode } from '../agents/permission-modes.ts';
import type { Confinement } from '../rights/confinement.ts';
import type { DenyRules } from './deny-rules.ts';

const text = z.string();
const texts = z.readonly(z.array(text));
/** A value must not look like an option, because a journal may come from anyone. */
const word = text.check(z.regex(/^[A-Za-z0-9]/));
const tools = z.readonly(z.array(text.check(z.regex(/^[A-Za-z_]/))));

const choicesSchema = z.object({
  model: z.optional(word),
  effort: z.optional(word),
  permissionMode: z._default(word, 'acceptEdits'),
  skipPermissions: z._default(z.boolean(), false),
  /** The tools that a prompt may use without asking, and those that it must not use. */
  allowedTools: z._default(tools, []),
  disallowedTools: z._default(tools, []),
  /** Each is a file or a JSON text. */
  mcpConfig: z.optional(texts),
  /** Settings of Claude Code: a file or a JSON text. */
  agentSettings: z.optional(text),
  /** Further folders that the agent may use. */
  addDir: z.optional(texts),
  appendSystemPrompt: z.optional(text),
  /** Further arguments, checked. */
  agentArgs: z.optional(texts),
});

type ClaudeChoices = z.output<typeof choicesSchema>;

/** A step with the choices and the deny rules for it. */
export type ClaudeStep = PromptStep &
  ClaudeChoices & {
    readonly deny: DenyRules;
    /** Only a new process needs it. */
    readonly confine: () => Confinement | undefined;
    /** The settings of the project are not loaded. */
    readonly skipsProject: boolean;
  };

/** Throws for choices that cannot be made with Raymond. */
export const readChoices = (choices: Choices): ClaudeChoices =>
  checkedChoices(choicesSchema, 'Claude Code', choices);

/** The choices of a run. Its models may be alternatives: each turn reads its own one. */
export const readRunChoices = ({ model: _, ...choices }: Choices): ClaudeChoices =>
  readChoices(choices);

export const DEFAULTS = { permissionMode: 'acceptEdits', skipPermissions: false } as const;

/** The tag overrides the state, and the state overrides the run. */
export function combine({ run, state, tag }: ChoiceLevels): Choices {
  const ofRun = readChoices(run);
  const ofState = readChoices(state);
  return {
    ...run,
    ...state,
    ...tag,
    ...permissionsFor(ofRun, state),
    allowedTools: heedsTools(ofRun)
      ? together(ofRun.allowedTools, ofState.allowedTools)
      : ofRun.allowedTools,
    disallowedTools: together(ofRun.disallowedTools, ofState.disallowedTools),
  };
}

/** What of the choices of a state has no effect, because the run allows less; undefined if all of it has. */
export function ignoredChoices(run: Choices, state: Choices): string | undefined {
  const ofRun = readChoices(run);
  const { allowedTools, permissionMode: asked } = readChoices(state);
  const isLooser =
    state.permissionMode !== undefined &&
    !ofRun.skipPermissions &&
    stricterMode(ofRun.permissionMode, asked) !== asked;
  const ignored = [
    ...(isLooser ? [`permission_mode ${asked}`] : []),
    ...(allowedTools.length > 0 && !heedsTools(ofRun) ? ['allowed_tools'] : []),
  ];
  if (ignored.length === 0) return undefined;
  return `${ignored.join(' and ')} has no effect: the permission mode of the run is ${ofRun.permissionMode}`;
}

/** A user who chooses a mode stricter than the usual one has not agreed to tools that a workflow allows. */
function heedsTools({ permissionMode, skipPermissions }: ClaudeChoices): boolean {
  return skipPermissions || mayEdit({ permissionMode });
}

function together(ofRun: readonly string[], ofState: readonly string[]): readonly string[] {
  return [...new Set([...ofRun, ...ofState])];
}

/** Why a turn that began with the choices `before` must not continue. */
export function tightened(before: Choices, after: Choices): string | undefined {
  const was = readChoices(before);
  const now = readChoices(after);
  const shared = tightenedBy(was, now);
  if (shared !== undefined) return shared;
  const isNoLongerAllowed = (tool: string) => !now.allowedTools.includes(tool);
  const isForbidden = (tool: string) => !was.disallowedTools.includes(tool);
  if (was.allowedTools.some(isNoLongerAllowed) || now.disallowedTools.some(isForbidden))
    return 'it may use fewer tools';
  return othersOf(was) === othersOf(now) ? undefined : 'the agent has other options';
}

/** The other choices as text, to compare them. */
function othersOf(choices: ClaudeChoices): string {
  const { mcpConfig, agentSettings, addDir, appendSystemPrompt, agentArgs } = choices;
  return JSON.stringify([mcpConfig, agentSettings, addDir, appendSystemPrompt, agentArgs]);
}
