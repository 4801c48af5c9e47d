import { taskOf } from '../interpret/change-agent.ts';
import { unfilledNames } from '../interpret/fill-prompt.ts';
import { handoverTaker } from '../interpret/handover.ts';
import {
  renderHandover,
  renderPrompt,
  type Surroundings,
  scriptVariables,
} from '../interpret/render.ts';
import { rightsAt } from '../interpret/rights.ts';
import { remainingUsd } from '../interpret/start-step.ts';
import type { Agent, Run, RunningStatus } from '../model/run.ts';
import type { PromptState, ScriptState, Workflow } from '../model/workflow.ts';
import { agentNamed, agentOf, choicesFor } from '../parse/chosen-agent.ts';
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
    prompt,
    ...writing(run, agent, status, state),
    session: status.session,
    places: placesOf(run, agent),
    taskFolder: folders.task(agent.id),
    ...turnSettings(run, agent, status, state, {
      workflow,
      usual: library.get(run.workflow)?.agents.usual ?? workflow.agents.usual,
      isConfined: rights !== undefined,
    }),
    asksPermissions: run.settings.askPermissions === true,
    granted: run.settings.granted ?? [],
    budgetUsd: status.reservedUsd ?? remainingUsd(run),
    previousFolder:
      agent.previousTry === undefined ? undefined : folders.step(agent.id, agent.previousTry),
  };
}

/** What a prompt step sends, and the state that has its text. */
function textOf(state: PromptState | ScriptState, from: Surroundings) {
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
  agent: Agent,
  { task }: RunningStatus,
  state: PromptState | ScriptState,
  {
    workflow,
    usual,
    isConfined,
  }: { readonly workflow: Workflow; readonly usual: string; readonly isConfined: boolean },
) {
  const policy = state.kind === 'prompt' ? state.policy : undefined;
  const name =
    state.kind === 'script' || task.kind === 'handover'
      ? handoverTaker(workflow, state, agent.session)
      : agentOf(workflow, state);
  const declaration = agentNamed(workflow.agents, name);
  if (!declaration) throw new Error(`There is no agent "${name}".`);
  // The start of the run checks this, and may not have known the state.
  if (!declaration.can.rights && isConfined)
    throw new Error(`The agent ${name} of ${state.name} cannot be confined to its rights.`);
  const choices = declaration.combine({
    run: choicesFor(declaration, usual, settings.agent),
    state: { ...policy?.choices, ...(task.kind === 'fill' && policy?.fill) },
    // The choices of a function tag apply to the called state, not to its judge or its filling.
    tag: task.kind === 'judge' || task.kind === 'fill' ? {} : agent.choices,
  });
  const idleTimeoutMs = limitsOf(state).idleTimeoutMs ?? settings.idleTimeoutMs;
  return { choices, idleTimeoutMs, warm: settings.warm };
}

/** Raymond must not execute a script that the run has not read. */
function expectedSha256({ workflowFiles }: Run, workflow: string, state: string) {
  const files = workflowFiles.get(workflow);
  return files && (files[state] ?? 'none');
}
