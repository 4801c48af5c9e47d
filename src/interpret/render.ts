/** Fills a state's text for a step. */
import type { Agent, Run } from '../model/run.ts';
import type { PromptState, Workflow } from '../model/workflow.ts';
import { writeTag } from '../parse/transition.ts';

/** What a step's own surroundings add to a run. */
export interface Surroundings {
  readonly workflow: Workflow;
  readonly run: Run;
  readonly agent: Agent;
  /** The agent's folder; asked for only when it is used, since asking makes it. */
  readonly taskFolder: () => string;
}

/** The text that a prompt step sends. */
export function renderPrompt(state: PromptState, from: Surroundings): string {
  const { agent } = from;
  const task = agent.status.kind === 'asking' ? undefined : agent.status.task;
  if (task?.kind === 'reminder') return task.text;
  if (task?.kind === 'continuation') return CONTINUATION;
  if (task?.kind === 'judge' && task.reminder) return task.reminder.text;
  const judged =
    task?.kind === 'judge'
      ? { output: task.output, transition: task.tags.map(writeTag).join('\n') }
      : undefined;
  return fill(state.template, (name) => {
    if (name === 'task_folder') return from.taskFolder();
    return lookUp({ ...promptVariables(from), ...judged }, name);
  });
}

/** Replaces each `{{name}}` once: what a value brings in is never looked at again. */
export function fill(template: string, value: (name: string) => string | undefined): string {
  return template.replace(
    /\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}/g,
    (written, name) => value(name) ?? written,
  );
}

/** The environment that a script sees, apart from its value. */
export function scriptVariables(from: Surroundings): Readonly<Record<string, string>> {
  const { run, agent, workflow } = from;
  return {
    ...workflow.about.environment,
    ...run.metadata,
    ...agent.variables,
    RAYMOND_WORKFLOW_ID: run.id,
    RAYMOND_AGENT_ID: agent.id,
    RAYMOND_STATE: agent.state,
    RAYMOND_TASK_FOLDER: from.taskFolder(),
    RAYMOND_ATTEMPT: String(agent.attempts),
  };
}

const CONTINUATION = `You were interrupted while you worked on the last request, and are now going on in the same
conversation. Some of the work may be done already: check what is there before you do anything again.
Then finish the request, and end as it told you to.`;

function promptVariables({ run, agent }: Surroundings): Readonly<Record<string, string>> {
  const value = agent.input ?? '';
  return {
    ...run.metadata,
    ...agent.variables,
    result: value,
    input: value,
    workflow_id: run.id,
    agent_id: agent.id,
    state: agent.state,
  };
}

function lookUp(variables: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}
