/** Which agent takes a prompt: the choice of its state, of its workflow, or else of the run. */
import type { AgentDeclaration, Agents, Choices } from '../model/agent.ts';
import type { PromptState, Workflow } from '../model/workflow.ts';
import { clip } from './clip.ts';
import { nearest, suggestion } from './nearest.ts';
import type { Field, YamlReader } from './yaml-reader.ts';

/** The name of the agent that takes a prompt. */
export function agentOf({ agents }: Pick<Workflow, 'agents'>, { policy }: PromptState): string {
  return policy.agent ?? agents.usual;
}

export function agentNamed({ all }: Agents, name: string): AgentDeclaration | undefined {
  return all.find((agent) => agent.name === name);
}

/** The agents that reach the same usage limits as this one. */
export function sharingLimits({ all }: Agents, name: string): readonly string[] {
  const provider = all.find((agent) => agent.name === name)?.provider;
  if (provider === undefined) return [name];
  return all.filter((agent) => agent.provider === provider).map((agent) => agent.name);
}

/** The agents of a workflow whose author may have chosen one of them. */
export function withUsual(agents: Agents, chosen: string | undefined): Agents {
  return chosen === undefined || chosen === agents.usual ? agents : { ...agents, usual: chosen };
}

/**
 * The choices of a run that apply to an agent. Names of models and similar values mean something to one
 * agent only, and `usual` is the one for which the user chose them.
 */
export function choicesFor(agent: AgentDeclaration, usual: string, choices: Choices): Choices {
  if (agent.name === usual) return choices;
  const own = new Set(agent.choices.flatMap(({ name, isOwn }) => (isOwn ? [name] : [])));
  return Object.fromEntries(Object.entries(choices).filter(([name]) => !own.has(name)));
}

/** Reads the name of an agent, which must exist. */
export function readAgentName(
  reader: YamlReader,
  field: Field,
  { all }: Agents,
): string | undefined {
  const written = reader.text(field, field.key, 'the name of an agent');
  const names = all.map(({ name }) => name);
  if (written === undefined || names.includes(written)) return written;
  const message = `There is no agent "${clip(written)}".`;
  const details = suggestion(nearest(written, names), `Name one of ${names.join(', ')}.`);
  return reader.error('unknown-agent', field.offset, message, details);
}
