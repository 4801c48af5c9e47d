/** Refuses a run whose agents do not exist, or cannot do what the run asks of them. */
import {
  APPROVE,
  type Approvals,
  insistedFact,
  toldFact,
  unapprovedSettings,
} from '../execute/agents/project-settings.ts';
import { hasPrice, unpricedText } from '../execute/agents/token-price.ts';
import { sandboxProblem } from '../execute/rights/sandbox-check.ts';
import { withinReach } from '../graph/within-reach.ts';
import { rightsOf } from '../interpret/rights.ts';
import { cannotBranch } from '../lint/agents.ts';
import type { AgentDeclaration, Lane } from '../model/agent.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Settings } from '../model/event.ts';
import { UserError } from '../model/user-error.ts';
import type { PromptState, Workflow } from '../model/workflow.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import { agentNamed, type ChoicePlace, choicesOfLane, lanesOf } from '../parse/chosen-agent.ts';
import type { WorkflowLibrary } from '../ports.ts';
import { nearHere } from './diagnostic-line.ts';
import { missingText, type RunSecrets, remedyFor } from './secrets.ts';
import { type AgentOptions, programOf } from './wire.ts';

export interface CheckedRun {
  readonly library: Pick<WorkflowLibrary, 'get' | 'pathOf'>;
  /** The workflows that the run can enter. */
  readonly refs: readonly string[];
  readonly settings: Settings;
  readonly given: AgentOptions;
}

/** Throws a UserError with the line of a state. Returns warnings about estimated costs, and choices without effect. */
export function checkAgents(run: CheckedRun): readonly string[] {
  for (const { agent } of promptsOf(run)) {
    const program = programOf(agent.name, run.given);
    if (!program.found) throw new UserError('no-executable', program.problem, program.remedy);
  }
  return checkAbilities(run);
}

/** The same for a resume, which does not need the agents that are already done. */
export function checkAbilities(run: CheckedRun): readonly string[] {
  const { library, refs, settings } = run;
  const callers = refs.slice(0, 1).flatMap((ref) => library.get(ref) ?? []);
  for (const prompt of promptsOf(run)) {
    const { workflow, state, agent } = prompt;
    const problem = problemOf(prompt, settings, callers);
    if (!problem) continue;
    const [fact, remedy] = problem;
    const message = `The agent ${agent.name} of ${state.name} ${fact}.`;
    throw refusal(library, workflow, { ...state.place, message, remedy });
  }
  for (const ref of refs) {
    const workflow = library.get(ref);
    const [fault] = workflow ? cannotBranch(workflow) : [];
    if (workflow && fault) throw refusal(library, workflow, fault);
  }
  const warnings = promptsOf(run).flatMap((prompt) => [
    ...costWarning(prompt, run),
    ...ignoredWarning(prompt),
  ]);
  return [...new Set(warnings)];
}

/**
 * Says which settings of the project the agents of the run do not load. Throws a UserError if one of them
 * would load them anyway.
 */
export function checkSettings(
  run: CheckedRun,
  directory: string,
  approvals: Approvals,
): readonly string[] {
  const agents = new Map(promptsOf(run).map(({ agent }) => [agent.name, agent]));
  const facts = [...agents.values()].flatMap((agent) => {
    const { told, insisted } = unapprovedSettings(agent, directory, approvals);
    if (insisted.length > 0)
      throw new UserError('not-trusted', insistedFact(agent.name, insisted), APPROVE);
    return told.length > 0 ? [toldFact(agent, told)] : [];
  });
  return facts.length > 0 ? [...facts, APPROVE] : [];
}

/** Warns if the user has lifted rights of the workflow. */
export async function liftedRights(run: CheckedRun): Promise<readonly string[]> {
  return run.settings.rights === 'off' ? checkRights(run) : [];
}

/**
 * Throws a UserError if this machine cannot enforce the rights of a state that the run can reach. Returns
 * warnings if the user has lifted them.
 */
export async function checkRights({
  library,
  refs,
  settings,
}: CheckedRun): Promise<readonly string[]> {
  const workflows = refs.flatMap((ref) => library.get(ref) ?? []);
  const confined = (given: Settings) =>
    workflows.flatMap((workflow) =>
      withinReach(workflow).flatMap((name) => {
        const rights = rightsOf(given, workflow, name, workflows.slice(0, 1));
        return rights ? [{ rights, state: workflow.states.get(name) }] : [];
      }),
    );
  if (settings.rights === 'off') {
    if (settings.learnRights)
      throw wrongUsage('--no-rights and --learn-rights exclude each other.', 'Omit one of them.');
    return confined({ ...settings, rights: [] }).length > 0 ? NO_RIGHTS_WARNING : [];
  }
  const all = confined(settings);
  if (all.length === 0) return [];
  const withHosts = all.some(
    ({ rights: { network }, state }) =>
      state?.kind === 'prompt' || (network !== 'all' && network.length > 0),
  );
  const problem = await sandboxProblem(withHosts || settings.learnRights === true);
  if (!problem) return settings.learnRights ? LEARN_WARNING : [];
  throw new UserError(
    'no-sandbox',
    `The workflow limits what its states may touch, and this machine cannot enforce it. ${problem.fact}`,
    problem.remedy,
  );
}

/**
 * Throws a UserError if a secret of a state that the run can reach is missing. A resume only warns: a step that
 * runs has its secrets, and must not be lost.
 */
export async function checkSecrets(
  { library, refs, settings }: CheckedRun,
  secrets: RunSecrets,
  isNew: boolean,
): Promise<readonly string[]> {
  const workflows = refs.flatMap((ref) => library.get(ref) ?? []);
  const named = workflows.flatMap((workflow) =>
    withinReach(workflow).flatMap((state) => {
      const rights = rightsOf(settings, workflow, state, workflows.slice(0, 1));
      return (rights?.secrets ?? []).map((name) => ({ name, workflow, state }));
    }),
  );
  const problems = await secrets.problems([...new Set(named.map(({ name }) => name))]);
  const missing = named.filter(({ name }) => problems.has(name));
  const texts = missing.map(
    ({ name, state }) => `${state} needs a secret. ${missingText(name, problems.get(name) ?? '')}`,
  );
  const [first] = missing;
  const [text = ''] = texts;
  if (first && isNew) throw new UserError('no-secret', text, remedyFor(first.name));
  return [...texts, ...[...new Set(missing.map(({ name }) => remedyFor(name)))]];
}

const LEARN_WARNING = [
  'WARNING: this run learns rights. Its agents and scripts can change the directory in which they work and reach',
  'any host that your own rights do not exclude. The rights of the workflow do not apply.',
];

const NO_RIGHTS_WARNING = [
  'WARNING: the rights of this workflow are lifted. Its agents and scripts can change any file and reach any host,',
  'with your rights. Use this only for workflows that you trust, where no data can be lost. No state gets secrets.',
];

/** Warns about agents whose sessions cannot continue on other machines. */
export function travelWarnings(run: CheckedRun): readonly string[] {
  const staying = promptsOf(run).flatMap(({ agent }) => (agent.can.travel ? [] : agent.name));
  return [...new Set(staying)].map(
    (name) =>
      `The sessions of the agent ${name} cannot travel: a prompt that continues one fails on another machine. Start workers on one machine only, or choose an agent whose sessions travel.`,
  );
}

interface Prompt {
  readonly workflow: Workflow;
  readonly state: PromptState;
  /** One of the agents that may take it. */
  readonly agent: AgentDeclaration;
  readonly lane: Lane;
  readonly place: ChoicePlace;
}

/** The prompts that the run can reach, once for each lane. */
function promptsOf({ library, refs, settings }: CheckedRun): readonly Prompt[] {
  return refs.flatMap((ref) => {
    const workflow = library.get(ref);
    return (workflow ? withinReach(workflow) : []).flatMap((name) => {
      const state = workflow?.states.get(name);
      if (!workflow || state?.kind !== 'prompt') return [];
      const { usual } = workflow.agents;
      const place = { workflow, state, run: settings.agent, usual, tag: {} };
      return lanesOf(place).flatMap((lane) => {
        const agent = agentNamed(workflow.agents, lane.agent);
        return agent ? [{ workflow, state, agent, lane, place }] : [];
      });
    });
  });
}

type Problem = readonly [fact: string, remedy: string];

function problemOf(
  { agent, workflow, state, lane, place }: Prompt,
  settings: Settings,
  callers: readonly Workflow[],
): Problem | undefined {
  const { askPermissions, budgetUsd } = settings;
  const instead = 'Omit the option, or choose another agent.';
  if (!agent.can.rights && rightsOf(settings, workflow, state.name, callers))
    return [
      'cannot be confined to the rights of the state',
      `Name the hosts that it needs, like hosts = ["api.example.com"], in [agents.${agent.name}] of your config file. Or run without rights: --no-rights.`,
    ];
  if (askPermissions && !agent.can.ask) return ['cannot follow --ask-permissions', instead];
  if (agent.can.cost === 'none' && budgetUsd > 0)
    return [
      'reports no cost that Raymond knows, so a budget cannot limit it',
      `Add price to [agents.${agent.name}] in your config file, or give --budget 0.`,
    ];
  const refused = agent.refusal?.(choicesOfLane(agent, place, lane.choices).run);
  return refused === undefined ? undefined : [refused, instead];
}

function costWarning({ agent, lane, place }: Prompt, { given }: CheckedRun): readonly string[] {
  if (agent.can.cost !== 'tokens') return [];
  const { model } = agent.combine(choicesOfLane(agent, place, lane.choices));
  const own = given.agents?.[agent.name]?.prices;
  if (typeof model !== 'string' || hasPrice(model, own)) return [];
  return [unpricedText(agent.name, model)];
}

function ignoredWarning({ state, agent, lane, place }: Prompt): readonly string[] {
  const levels = choicesOfLane(agent, place, lane.choices);
  const ignored = agent.ignored?.(levels.run, levels.state);
  return ignored === undefined ? [] : [`${state.name}: ${ignored}.`];
}

function refusal(
  { pathOf }: CheckedRun['library'],
  { ref }: Workflow,
  fault: Pick<Diagnostic, 'file' | 'line' | 'column' | 'message' | 'remedy'>,
): UserError {
  const { file, line, column, message, remedy } = fault;
  const path = pathOf(ref, file);
  return new UserError(
    'usage',
    `${nearHere(path)}:${line}: ${message}`,
    remedy ?? 'Choose another agent.',
    {
      ...{ file: path, line, column },
    },
  );
}
