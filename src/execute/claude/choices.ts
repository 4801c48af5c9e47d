/** What is chosen for Claude Code: how the run's, the state's and the tag's choices become a turn's. */
import * as z from 'zod/mini';
import type { ChoiceLevels, Choices } from '../../model/agent.ts';
import type { PromptStep } from '../../ports.ts';
import { stricterMode } from './known-names.ts';

const text = z.string();
const texts = z.readonly(z.array(text));
/** No tool begins like an option. A journal may come from anybody. */
const tools = z.readonly(z.array(text.check(z.regex(/^[A-Za-z_]/))));

const choicesSchema = z.object({
  model: z.optional(text),
  effort: z.optional(text),
  permissionMode: z._default(text, 'acceptEdits'),
  skipPermissions: z._default(z.boolean(), false),
  /** What a prompt may use unasked, and what it may not use at all. */
  allowedTools: z._default(tools, []),
  disallowedTools: z._default(tools, []),
  /** Files, or JSON. */
  mcpConfig: z.optional(texts),
  /** Settings of Claude Code: a file, or JSON. */
  agentSettings: z.optional(text),
  /** Further folders that it may use. */
  addDir: z.optional(texts),
  appendSystemPrompt: z.optional(text),
  /** Further arguments, checked. */
  agentArgs: z.optional(texts),
});

export type ClaudeChoices = z.output<typeof choicesSchema>;

/** A step with what is chosen for it, read. */
export type ClaudeStep = PromptStep & ClaudeChoices;

/** Throws for choices that nobody could have made with Raymond. */
export function readChoices(choices: Choices): ClaudeChoices {
  const read = choicesSchema.safeParse(choices);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Error(`${issue?.path.join('.')} cannot be what was chosen for Claude Code.`);
}

export const USUAL = { permissionMode: 'acceptEdits', skipPermissions: false } as const;

/** The nearest word counts for the model and the effort. A state may ask for less, never for more. */
export function combine({ run, state, tag }: ChoiceLevels): Choices {
  const ofRun = readChoices(run);
  const ofState = readChoices(state);
  const asks = state.permissionMode !== undefined;
  const { permissionMode: asked } = ofState;
  const { permissionMode, skipPermissions } = ofRun;
  return {
    ...run,
    ...state,
    ...tag,
    ...(asks
      ? {
          permissionMode: skipPermissions ? asked : stricterMode(permissionMode, asked),
          skipPermissions: false,
        }
      : { permissionMode, skipPermissions }),
    allowedTools: together(ofRun.allowedTools, ofState.allowedTools),
    disallowedTools: together(ofRun.disallowedTools, ofState.disallowedTools),
  };
}

function together(ofRun: readonly string[], ofState: readonly string[]): readonly string[] {
  return [...new Set([...ofRun, ...ofState])];
}

/** Why a turn that began with other choices must not continue with them. */
export function tightened(before: Choices, after: Choices): string | undefined {
  const was = readChoices(before);
  const now = readChoices(after);
  if (was.skipPermissions && !now.skipPermissions) return 'permissions are not skipped any more';
  if (
    !now.skipPermissions &&
    stricterMode(was.permissionMode, now.permissionMode) !== was.permissionMode
  )
    return `the permission mode is ${now.permissionMode}`;
  const isTaken = (tool: string) => !now.allowedTools.includes(tool);
  const isForbidden = (tool: string) => !was.disallowedTools.includes(tool);
  if (was.allowedTools.some(isTaken) || now.disallowedTools.some(isForbidden))
    return 'it may use fewer tools';
  if (othersOf(was) !== othersOf(now)) return 'the agent has other options';
  if (now.model !== undefined && now.model !== was.model) return `the model is ${now.model}`;
  return undefined;
}

/** What else it is started with, to be compared. */
function othersOf(choices: ClaudeChoices): string {
  const { mcpConfig, agentSettings, addDir, appendSystemPrompt, agentArgs } = choices;
  return JSON.stringify([mcpConfig, agentSettings, addDir, appendSystemPrompt, agentArgs]);
}
