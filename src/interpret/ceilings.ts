/** Limits for things that cost no money but must not grow without bound. */
import { counted } from '../model/counted.ts';
import type { Failure } from '../model/failure.ts';
import type { Agent, Run } from '../model/run.ts';

export const MOST_FORKS = 1_000;
export const MOST_AGENTS = 10_000;
export const DEEPEST_STACK = 200;
const LONGEST_NAME = 4_000;

/** Why a move cannot start its children; undefined when it can. */
export function forkCeiling(
  { settings, agents, endedAgents }: Run,
  forks: number,
): Failure | undefined {
  if (forks > MOST_FORKS) {
    const message = `There are ${forks} forks in one answer, but at most ${MOST_FORKS} are allowed.`;
    return { kind: 'too-many-forks', message };
  }
  const { maxAgents = MOST_AGENTS } = settings;
  const all = agents.size + endedAgents.size;
  if (forks === 0 || all + forks <= maxAgents) return undefined;
  const message = `A run has at most ${maxAgents} agents (--max-agents). This run has had ${counted(all, 'agent')}, and the answer asks for ${forks} more.`;
  return { kind: 'too-many-agents', message };
}

/** Why an agent cannot call anything; undefined when it can. */
export function callCeiling({ settings }: Run, { id, stack }: Agent): Failure | undefined {
  const { maxDepth = DEEPEST_STACK } = settings;
  if (stack.length < maxDepth) return undefined;
  const message = `${id} is ${counted(stack.length, 'call')} deep, but at most ${maxDepth} are allowed (--max-depth).`;
  return { kind: 'too-deep', message };
}

/** Names grow with each nested fork, and every event of the agent contains the name. */
export function nameCeiling(name: string): Failure | undefined {
  if (name.length <= LONGEST_NAME) return undefined;
  const message = `Forks are nested so deep that the name of the child agent would have more than ${LONGEST_NAME} characters.`;
  return { kind: 'too-deep', message };
}
