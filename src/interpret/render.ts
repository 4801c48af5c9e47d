/** Fills a state's text for a step. */

import { ANSWER_FILES } from '../model/kept-file.ts';
import type { Agent, Run } from '../model/run.ts';
import type { StateName } from '../model/state-name.ts';
import { startedByText } from '../model/trigger.ts';
import type { PromptState, State, Workflow } from '../model/workflow.ts';
import { type JsonReading, jsonText, readJson, valueAt } from '../parse/json.ts';
import {
  type GivenName,
  isGivenName,
  type JudgeName,
  PLACEHOLDER,
  pathOf,
  SCRIPT_STEP_NAMES,
  type ScriptStepName,
  variableOf,
} from '../parse/placeholders.ts';
import { writeTag } from '../parse/transition.ts';
import { taskOf } from './change-agent.ts';
import { fillQuestion } from './fill-prompt.ts';
import { handoverPrompt, receivedHandover, withHandover } from './handover.ts';

/** The values that a step adds to those of the run. */
export interface Surroundings {
  readonly workflow: Workflow;
  readonly run: Run;
  readonly agent: Agent;
  /** The agent's folder. The call creates it, so it is made only when it is used. */
  readonly taskFolder: () => string;
}

/** The text that a prompt step sends. */
export function renderPrompt(state: PromptState, from: Surroundings): string {
  const { agent } = from;
  const task = taskOf(agent.status);
  if (task.kind === 'reminder') return task.text;
  if (task.kind === 'continuation') return CONTINUATION;
  if ((task.kind === 'judge' || task.kind === 'fill') && task.reminder) return task.reminder.text;
  if (task.kind === 'fill') return fillQuestion(state, ...knownValues(state, from));
  const judged: Readonly<Record<JudgeName, string>> | undefined =
    task.kind === 'judge'
      ? { output: task.output, transition: task.tags.map(writeTag).join('\n') }
      : undefined;
  const prompt = rendered(state, from, { ...agent.filled, ...judged });
  if (judged) return prompt;
  return withHandover(state, receivedHandover(agent), withAnswerFiles(state, from, prompt));
}

/** A prompt that has no place for the files that came with an answer gets their names in front. */
function withAnswerFiles({ template }: PromptState, from: Surroundings, prompt: string): string {
  const paths = answerFilePaths(from);
  if (paths.length === 0 || template.includes('{{answer_files}}')) return prompt;
  return `These files came with the answer:\n${paths.join('\n')}\n\n${prompt}`;
}

function answerFilePaths({ agent: { answerFiles = [] }, taskFolder }: Surroundings) {
  return answerFiles.map(({ name }) => `${taskFolder()}/${ANSWER_FILES}/${name}`);
}

/** The text that asks an agent for a handover, for the state that it leaves. */
export function renderHandover(
  state: State | undefined,
  from: Surroundings,
): { readonly name?: StateName; readonly prompt: string } {
  const asked = handoverPrompt(from.workflow, state);
  if ('problem' in asked) throw new Error(asked.problem);
  const { name } = asked;
  return { ...(name && { name }), prompt: rendered(asked, from, {}) };
}

function rendered(
  { template }: Pick<PromptState, 'template'>,
  from: Surroundings,
  more: Readonly<Record<string, string>>,
): string {
  const values = { ...from.run.metadata, ...from.agent.variables, ...more };
  return fill(template, (name) => (isGivenName(name) ? GIVEN[name](from) : lookUp(values, name)));
}

/** The values that a filling model gets: those that Raymond gives and the prompt uses, and the others. */
function knownValues(
  { template }: PromptState,
  from: Surroundings,
): readonly [given: Record<string, string>, values: Record<string, string>] {
  const used = [...template.matchAll(PLACEHOLDER)].flatMap(([, name = '']) =>
    isGivenName(name) ? [[name, GIVEN[name](from)] as const] : [],
  );
  return [Object.fromEntries(used), { ...from.run.metadata, ...from.agent.variables }];
}

/**
 * Replaces each `{{name}}` once. Inserted values are not expanded again. A path reaches into a value that is JSON;
 * where it leads nowhere, the placeholder stays as written.
 */
export function fill(template: string, value: (name: string) => string | undefined): string {
  const read = new Map<string, JsonReading>();
  const within = (name: string, path: readonly string[]) => {
    const text = value(name);
    if (text === undefined) return undefined;
    const json = read.get(name) ?? readJson(text);
    read.set(name, json);
    const found = json.ok ? valueAt(json.value, path) : undefined;
    return found === undefined ? undefined : jsonText(found);
  };
  return template.replace(PLACEHOLDER, (written, name, path) => {
    const filled = path === '' ? value(name) : within(name, pathOf(path));
    return filled ?? written;
  });
}

/** The environment of a script. The executor adds the received value, which may be too large for it. */
export function scriptVariables(from: Surroundings): Readonly<Record<string, string>> {
  const { run, agent, workflow } = from;
  const own = Object.entries(agent.variables).filter(([name]) => !agent.withheld.includes(name));
  return {
    ...workflow.about.environment,
    ...run.metadata,
    ...Object.fromEntries(own),
    ...Object.fromEntries(SCRIPT_STEP_NAMES.map((name) => [variableOf(name), GIVEN[name](from)])),
    ...(hasNotes(agent) && { [variableOf('notes_folder')]: GIVEN.notes_folder(from) }),
  };
}

const CONTINUATION = `You were interrupted while you worked on the last request. You now continue in the same
conversation. Some of the work may already be done: check what exists before you do anything again.
Then finish the request, and end your last message as the request says.`;

/** The values of the names that Raymond fills in. */
const GIVEN: Readonly<Record<GivenName | ScriptStepName, (from: Surroundings) => string>> = {
  result: ({ agent }) => agent.input ?? '',
  input: ({ agent }) => agent.input ?? '',
  workflow_id: ({ run }) => run.id,
  agent_id: ({ agent }) => agent.id,
  state: ({ agent }) => agent.state,
  task_folder: ({ taskFolder }) => taskFolder(),
  handover: ({ agent }) => receivedHandover(agent) ?? '',
  trigger: ({ run }) => startedByText(run.startedBy),
  answer_files: (from) => answerFilePaths(from).join('\n'),
  attempt: ({ agent }) => String(agent.attempts),
  notes_folder: ({ agent, taskFolder }) => (hasNotes(agent) ? `${taskFolder()}/notes` : ''),
};

const hasNotes = ({ status }: Agent) => status.kind === 'running' && status.notes !== undefined;

function lookUp(variables: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}
