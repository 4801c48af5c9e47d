import { taskOf } from '../interpret/change-agent.ts';
import { unfilledNames } from '../interpret/fill-prompt.ts';
import { choicePlace, lanesFor } from '../interpret/lanes.ts';
import {
  renderHandover,
  renderPrompt,
  type Surroundings,
  scriptVariables,
} from '../interpret/render.ts';
import { rightsAt } from '../interpret/rights.ts';
import { remainingUsd } from '../interpret/start-step.ts';
import { wordsBefore } from '../interpret/words.ts';
import type { Agent, Run, RunningStatus } from '../model/run.ts';
import { withSpoken } from '../model/spoken.ts';
import type { PromptState, ScriptState } from '../model/workflow.ts';
import { agentNamed, type ChoicePlace, choicesOfLane } from '../parse/chosen-agent.ts';
import { limitsOf } from '../parse/limits.ts';
import type { Place, PromptStep, Step } from '../ports.ts';
import type { StepsPorts } from './steps.ts';

/** Everything that an executor needs for the running step of an agent. */
export async function stepOf(
  { library, folders }: Pick<StepsPorts, 'library' | 'folders'>,
  run: Run,
  agent: Agent,
  status: RunningStatus,
): Promise<Step> {
  const workflow = library.get(agent.workflow);
  const state = workflow?.states.get(status.state);
  if (!workflow || !state || state.kind === 'broken')
    throw new Error(`${status.state} can no longer be executed.`);
  const from = { workflow, run, agent, taskFolder: () => folders.task(agent.id) };
  const rights = rightsAt((ref) => library.get(ref), run, agent, state.name);
  const parts = {
    run: run.id,
    agent: agent.id,
    number: status.step,
    attempt: agent.attempts,
    workflow: agent.workflow,
    state: state.name,
    cwd: agent.cwd,
    folder: folders.step(agent.id, status.step),
    ...(rights && {
      rights: { ...rights, places: placesOf(run, agent), taskFolder: folders.task(agent.id) },
    }),
  };
  if (status.task.kind === 'check') {
    const check = state.kind === 'prompt' && state.policy.ensures[status.task.ensure];
    if (!check) throw new Error(`${agent.state} no longer has its check.`);
    return {
      ...parts,
      kind: 'check',
      environment: scriptVariables(from),
      idleTimeoutMs: state.policy.idleTimeoutMs ?? run.settings.idleTimeoutMs,
      command: check.run,
      interpreter: workflow.platform === 'windows' ? 'cmd' : 'bash',
      input: agent.input,
    };
  }
  if (state.kind === 'script' && status.task.kind !== 'handover') {
    return {
      ...parts,
      kind: 'script',
      environment: scriptVariables(from),
      idleTimeoutMs: state.limits.idleTimeoutMs ?? run.settings.idleTimeoutMs,
      file: `${await library.scriptFolder(agent.workflow)}/${state.name}`,
      sha256: expectedSha256(run, agent.workflow, state.name),
      interpreter: state.interpreter,
      input: agent.input,
    };
  }
  const { name, prompt } = textOf(state, from);
  const read = run.workflowFiles.get(agent.workflow);
  // A state that the run could not reach when it was resumed may be a file of its agents.
  if (read && read[name] !== workflow.files?.[name])
    throw new Error(
      `${name} has changed since the run read it. Check it, then run: raymond resume ${run.id} --accept-changes`,
    );
  if (!status.session) throw new Error(`${agent.state} was a script when this step began.`);
  return {
    ...parts,
    kind: 'prompt',
    environment: workflow.about.environment ?? {},
    prompt: withSpoken(wordsBefore(agent, status.step), prompt),
    newWords: wordsBefore(agent, status.step, true),
    ...writing(run, agent, status, state),
    session: status.session,
    places: placesOf(run, agent),
    taskFolder: folders.task(agent.id),
    idleTimeoutMs: limitsOf(state).idleTimeoutMs ?? run.settings.idleTimeoutMs,
    ...turnSettings(
      run,
      agent,
      status,
      choicePlace((ref) => library.get(ref), run, { ...agent, status }, workflow, state),
      rights !== undefined,
    ),
    asksPermissions: run.settings.askPermissions === true,
    granted: run.settings.granted ?? [],
    budgetUsd: status.reservedUsd ?? remainingUsd(run),
    previousFolder:
      agent.previousTry === undefined ? undefined : folders.step(agent.id, agent.previousTry),
  };
}

/** What a prompt step sends, and the state that has its text. */
export function textOf(state: PromptState | ScriptState, from: Surroundings) {
  const isOwn = state.kind === 'prompt' && taskOf(from.agent.status).kind !== 'handover';
  if (isOwn) return { name: state.name, prompt: renderPrompt(state, from) };
  const { name = state.name, prompt } = renderHandover(state, from);
  return { name, prompt };
}

function writing(
  run: Run,
  agent: Agent,
  { task: { kind } }: RunningStatus,
  state: PromptState | ScriptState,
): Pick<PromptStep, 'writes'> {
  if (kind === 'handover') return { writes: { kind } };
  if (kind !== 'fill' || state.kind !== 'prompt') return {};
  return { writes: { kind, names: unfilledNames(state, run, agent) } };
}

function placesOf({ workflowFiles }: Run, { workflow, state, stack }: Agent): readonly Place[] {
  const read = [...workflowFiles].map(([ref]) => ({ workflow: ref }));
  return [
    { workflow, state },
    ...stack.map(({ workflow, state }) => ({ workflow, state })),
    ...read,
  ];
}

function turnSettings(
  { settings }: Run,
  { session }: Agent,
  { lane, task }: RunningStatus,
  place: ChoicePlace,
  isConfined: boolean,
) {
  const { workflow, state } = place;
  const name = (lane ?? lanesFor(place, task, session)[0])?.agent ?? place.usual;
  const declaration = agentNamed(workflow.agents, name);
  if (!declaration) throw new Error(`There is no agent "${name}".`);
  // The start of the run checks this, and may not have known the state.
  if (!declaration.can.rights && isConfined)
    throw new Error(`The agent ${name} of ${state.name} cannot be confined to its rights.`);
  // The filling model is no lane of the state.
  const ofLane = (task.kind === 'fill' ? state.policy.fill : lane?.choices) ?? {};
  const choices = declaration.combine(choicesOfLane(declaration, place, ofLane));
  return { choices, warm: settings.warm };
}

/** Raymond must not execute a script that the run has not read. */
function expectedSha256({ workflowFiles }: Run, workflow: string, state: string) {
  const files = workflowFiles.get(workflow);
  return files && (files[state] ?? 'none');
}
