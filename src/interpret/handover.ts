/** What a session hands over to the session that continues its work. */
import type { Agent } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import type { NamedState, PromptState, State, Workflow } from '../model/workflow.ts';
import { resolveState } from '../parse/resolve.ts';

/** The prompt that asks for a handover, or why there is none. */
export function handoverPrompt(
  workflow: Workflow,
  state: State | undefined,
):
  | (Pick<PromptState, 'template'> & Partial<Pick<PromptState, 'name'>>)
  | { readonly problem: string } {
  const named = handoverName(workflow, state);
  if (!named) return { template: USUAL_QUESTION };
  const resolution = resolveState(workflow, named.name);
  const prompt = 'found' in resolution ? workflow.states.get(resolution.found) : undefined;
  if (prompt?.kind === 'prompt') return prompt;
  const why = 'message' in resolution ? resolution.message : `${named.name} is not a prompt.`;
  return { problem: `There is no prompt for the handover. ${why}` };
}

const USUAL_QUESTION = `This conversation ends here, and the work continues in a new one. The agent that continues sees the same
files, but nothing of this conversation. It knows only what you write now.

Write what it must know:

- the task, and every requirement and wish that was stated, word for word where the words matter
- what is done, and where: files, functions, commands and their results
- what you decided, and why
- what was hard to find out, and what you tried without success
- what is left to do, and what you would do next

Name files, commands and values exactly. Leave out what the files themselves show. Do not work on, and write no
transition tag. Your whole answer is the handover.`;

function handoverName({ about }: Workflow, state: State | undefined): NamedState | undefined {
  return (state?.kind === 'prompt' ? state.policy.handover : undefined) ?? about.handover;
}

/** The state whose text asks for the handovers of a state, if they have their own and it exists. */
export function handoverFor(workflow: Workflow, state: State): StateName | undefined {
  const named = handoverName(workflow, state);
  const resolution = named && resolveState(workflow, named.name);
  return resolution && 'found' in resolution ? resolution.found : undefined;
}

/** The tokens of a session that is larger than a goto may leave it; undefined if it is not. */
export function outgrown(workflow: Workflow | undefined, agent: Agent): number | undefined {
  const { session } = agent;
  const tokens = session.kind === 'none' ? undefined : session.tokens;
  const state = workflow?.states.get(agent.state);
  const own = state?.kind === 'prompt' ? state.policy.context : undefined;
  const limit = own ?? workflow?.about.context;
  return limit && tokens !== undefined && tokens > limit.maxTokens ? tokens : undefined;
}

/** The handover with which the next session of an agent begins, if there is one. */
export function receivedHandover({ session }: Agent): string | undefined {
  return session.kind === 'none' ? session.handover : undefined;
}

/** A prompt that has no place for the handover gets it in front. */
export function withHandover(
  { template }: Pick<PromptState, 'template'>,
  handover: string | undefined,
  prompt: string,
): string {
  if (handover === undefined || template.includes(PLACE)) return prompt;
  return `${INTRODUCTION}\n\n<handover>\n${handover}\n</handover>\n\n${prompt}`;
}

/** Where a prompt wants the handover. */
export const PLACE = '{{handover}}';

const INTRODUCTION =
  'An earlier conversation about this work has ended. This is what it left for you:';
