/** Builds the ports that execute steps and load workflows. `surroundings.ts` builds the others. */
import { dirname, join } from 'node:path';

import { acpBegun, acpConversation } from '../execute/acp/conversation.ts';
import { chosenAgents } from '../execute/agents/agent-option.ts';
import { acpCommands, agentsWith } from '../execute/agents/agents.ts';
import { type Executable, findAcp } from '../execute/agents/find-program.ts';
import type { Protected } from '../execute/agents/protected-files.ts';
import { readAgentOptions } from '../execute/claude/agent-options.ts';
import { readRunChoices } from '../execute/claude/choices.ts';
import { claudeExecutor } from '../execute/claude/claude.ts';
import { conversationReader } from '../execute/claude/conversation.ts';
import { claudeAgent } from '../execute/claude/declaration.ts';
import { type AgentNames, claudeNames, findClaude } from '../execute/claude/health.ts';
import { EFFORTS, isModel, MODELS, PERMISSION_MODES } from '../execute/claude/known-names.ts';
import { begunTurn } from '../execute/claude/records.ts';
import { codexExecutor } from '../execute/codex/codex.ts';
import { codexAgent } from '../execute/codex/declaration.ts';
import { findCodex } from '../execute/codex/health.ts';
import { fileComparer } from '../execute/git/compare-trees.ts';
import { gitFileHistory } from '../execute/git/file-history.ts';
import { gitWorktrees } from '../execute/git/worktrees.ts';
import { RunProcesses } from '../execute/process/index.ts';
import { type RehearsingExecutors, rehearsal } from '../execute/rehearsal/rehearsal.ts';
import { scriptExecutor } from '../execute/scripts/script.ts';
import { errorsIn, type StepKind, stepMessages } from '../execute/steps/step-folder.ts';
import { stepKeeper } from '../execute/steps/step-keeper.ts';
import { type AgentRecords, stepReader } from '../execute/steps/step-reader.ts';
import { scriptAnswers } from '../explore/script-answers.ts';
import { openRun } from '../host/open-run.ts';
import type { RewindPorts } from '../host/rewind-run.ts';
import { companionsOf, readCompanion, readNamedCompanion } from '../load/companions.ts';
import { createLibrary, type LooseLibrary, type StoredSources } from '../load/load.ts';
import type { Agents, Choices } from '../model/agent.ts';
import type { Settings } from '../model/event.ts';
import { UserError } from '../model/user-error.ts';
import type { Platform, Workflow } from '../model/workflow.ts';
import type { RunOptions } from '../options/run-options.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import { agentNamed, withUsual } from '../parse/chosen-agent.ts';
import { nearest } from '../parse/nearest.ts';
import { type Rehearsal, rehearsalSchema } from '../parse/rehearsal-file.ts';
import { findState } from '../parse/resolve.ts';
import type {
  Executor,
  Executors,
  FileComparer,
  FileHistory,
  RunFolders,
  RunStore,
  StepKeeper,
  StepReader,
  WorkflowLibrary,
  Workspace,
  Worktrees,
} from '../ports.ts';
import type { TestPorts } from '../workflow-tests/run-test.ts';
import { testEnvironment } from '../workflow-tests/test-repository.ts';
import { optionsForReading } from './config/configuration.ts';
import { approvalsOf } from './config/trust.ts';
import { userConfigFolder, userStateFolder } from './config/user-folders.ts';
import { testGround } from './ground.ts';
import { reachedFiles } from './reached-files.ts';
import { type RunSecrets, runSecrets, withoutSecrets } from './secrets.ts';
import type { Here, Surroundings } from './surroundings.ts';

export const platform: Platform = process.platform === 'win32' ? 'windows' : 'unix';

/** What the user chose for the agents on this machine. */
export type AgentOptions = Pick<RunOptions, 'agent' | 'agents'>;

export function libraryFor(
  { source }: Workspace,
  cwd: string,
  chosen: AgentOptions,
): WorkflowLibrary {
  return looseLibrary(cwd, chosen).unpackingInto(source);
}

/** For commands that only read a workflow. It unpacks nothing. */
export function looseLibrary(
  cwd: string,
  chosen: AgentOptions,
  stored?: StoredSources,
  toLocal?: (path: string) => string,
): LooseLibrary {
  return createLibrary({
    ...{ cwd, platform, agents: agentsFor(chosen) },
    ...(stored && { stored }),
    ...(toLocal && { toLocal }),
  });
}

/** The same, with the agents of the config files. */
export async function configuredLibrary(
  here: Here,
  cwd: string = process.cwd(),
  stored?: StoredSources,
): Promise<LooseLibrary> {
  return looseLibrary(cwd, await optionsForReading(here), stored);
}

/** The agents of the config files, for a program that reads workflows itself. */
export async function configuredAgents(here: Here): Promise<Agents> {
  return agentsFor(await optionsForReading(here));
}

/** All agents. The user may have chosen the default one. */
function agentsFor({ agent, agents }: AgentOptions): Agents {
  const all = agentsWith(agents);
  if (agent?.agent === '')
    throw wrongUsage(
      'The name of the agent is empty.',
      'Name one, for example claude. Or omit it: then the workflow chooses.',
    );
  const chosen = chosenAgents(agent);
  const unknown = chosen?.find((name) => !agentNamed(all, name));
  if (unknown === undefined) return withUsual(all, chosen);
  const names = all.all.map((one) => one.name);
  throw unknownName('Raymond', 'agent', unknown, names);
}

export interface ChosenExecutors extends Executors {
  /** Absent in a rehearsal, which creates no worktrees. */
  readonly worktrees?: Worktrees;
  /** Absent in a rehearsal, which changes no files. */
  readonly files?: FileHistory;
  readonly keeper: StepKeeper;
  /** All processes of the run belong to it. */
  readonly processes: RunProcesses;
  /** Absent in a rehearsal, which has no need for them. */
  readonly secrets?: RunSecrets;
  readonly rehearsal?: Pick<RehearsingExecutors, 'remember'> & {
    readonly replies: readonly string[];
  };
}

export interface ExecutorChoice {
  readonly run: string;
  readonly startedAt: number;
  /** It begins in this process. */
  readonly isNew?: boolean;
  readonly settings: Settings;
  readonly workflow: string;
  readonly library: WorkflowLibrary;
  /** The workflows that the run can enter. */
  readonly refs: readonly string[];
  readonly given: AgentOptions;
  /** The folder whose agent settings the user may have approved; by default the one with `.raymond`. */
  readonly root?: string;
}

/** The executors of a run: the real agent, or a rehearsal. */
export async function executors(
  around: Surroundings,
  {
    run,
    startedAt,
    isNew,
    settings,
    workflow,
    library,
    refs,
    given,
    root = dirname(around.project.folder),
  }: ExecutorChoice,
): Promise<ChosenExecutors> {
  const agentOptions = readAgentOptions(settings.agent);
  const processes = await around.processes(run, startedAt, isNew);
  const secrets = settings.rehearse ? undefined : runSecrets();
  const protects: Protected = {
    projectFolder: around.project.folder,
    userFolder: userStateFolder(),
    configFolder: userConfigFolder(),
    reached: reachedFiles(library),
    ...(secrets && { secretOf: secrets.valueOf }),
  };
  const workflows = refs.flatMap((ref) => library.get(ref) ?? []);
  const environment = await withoutSecrets(process.env, workflows);
  const script = (around.scriptExecutor ?? scriptExecutor)(processes, {
    ...{ protects, from: environment },
  });
  const workspace = around.workspace(run);
  const ofRun = {
    processes,
    ...(secrets && { secrets }),
    endStrays: () => processes.endStrays(),
    leave: () => processes.leave(),
    keeper: stepKeeper(workspace, (folder) => processes.takeOver(folder)),
  };
  if (!settings.rehearse) {
    const approvals = await approvalsOf(root);
    const common = {
      ...{ environment, processes, sessionsFolder: workspace.sessions, protects },
    };
    const claude = claudeExecutor({
      ...common,
      path: programIn(given.agent),
      agentOptions,
      mostProcesses: settings.maxParallelPrompts,
      own: given.agents?.[claudeAgent.name],
      approvals,
      protects: {
        ...protects,
        ...(agentOptions.files && { files: agentOptions.files }),
        ...(agentOptions.addDir && { folders: agentOptions.addDir }),
      },
    });
    const codex = codexExecutor({
      ...common,
      path: programIn(given.agent, 'codexPath'),
      prices: given.agents?.[codexAgent.name]?.prices ?? {},
      own: given.agents?.[codexAgent.name],
    });
    // One for each agent that speaks the Agent Client Protocol. An executor without a step does nothing.
    const { acpExecutor } = await import('../execute/acp/acp.ts');
    const others = Object.entries(acpCommands(given.agents)).map(([name, command]) => {
      const own = given.agents?.[name];
      return acpExecutor({
        ...common,
        ...command,
        name,
        prices: own?.prices ?? {},
        own,
        approvals,
      });
    });
    const prompt = new Map([claude, codex, ...others].map((executor) => [executor.name, executor]));
    const files = filesOf(around, run);
    return { prompt, script, ...ofRun, files, worktrees: worktreesOf(around, run, processes) };
  }
  const fileOf = fileNamedBy(settings) ?? ownFileOf(library);
  const { prompt, remember, replies, ...played } = await rehearsalIn(library, workflow, {
    fileOf,
    ...(settings.rehearseScripts && { script }),
  });
  return { prompt, script: played.script, ...ofRun, rehearsal: { remember, replies } };
}

interface RehearsalFiles {
  /** The rehearsal file of a workflow. The author may not have written it. */
  readonly fileOf: (ref: string) => Promise<Rehearsal | undefined>;
  /** Executes scripts without an answer in the file. */
  readonly script?: Executor;
}

/** Plays the agents of a workflow, and the answers of the person. */
export async function rehearsalIn(
  library: WorkflowLibrary,
  workflow: string,
  { fileOf, script }: RehearsalFiles,
): Promise<RehearsingExecutors & { readonly replies: readonly string[] }> {
  const read = new Map<string, Promise<Rehearsal | undefined>>();
  const rehearsalOf = (ref: string) => {
    const reading = read.get(ref) ?? fileOf(ref);
    read.set(ref, reading);
    return reading;
  };
  const { replies = [] } = (await rehearsalOf(workflow)) ?? {};
  const played = rehearsal({
    ...{ workflow: (ref) => library.get(ref), rehearsalOf, scriptAnswers },
    ...(script && { script }),
  });
  return { ...played, replies };
}

export function filesOf(around: Pick<Surroundings, 'workspace'>, run: string): FileHistory {
  return gitFileHistory({ run, folder: around.workspace(run).files });
}

export function comparerOf(around: Surroundings, run: string): FileComparer {
  return fileComparer({ run, folder: around.workspace(run).files });
}

export async function rewindPorts(around: Surroundings, run: string): Promise<RewindPorts> {
  const { store, clock, world } = around;
  // Its seals are known only with the time of its start. A git that was killed may have left a record.
  const { startedAt } = (await openRun(store, run)).run;
  const worktrees = worktreesOf(around, run, await around.processes(run, startedAt));
  return { store, clock, files: await world.files(run), worktrees };
}

function worktreesOf(around: Surroundings, run: string, processes: RunProcesses): Worktrees {
  const { worktrees, makings } = around.workspace(run);
  return gitWorktrees({ run, folder: worktrees, records: makings, processes });
}

export function messagesOfStep(folders: RunFolders) {
  return (agent: string, step: number, kind: StepKind) =>
    stepMessages(folders.step(agent, step), kind);
}

/** Reads the conversations of steps on this machine. */
export function stepReaderOf({
  store,
  workspace,
}: {
  readonly store: Pick<RunStore, 'records'>;
  readonly workspace: Surroundings['workspace'];
}): StepReader {
  const agent: AgentRecords = {
    conversation: (folder) => acpConversation(folder) ?? conversationReader(),
    begun: (folder) => begunTurn(folder) ?? acpBegun(folder),
  };
  return stepReader({ store, folders: workspace, agent });
}

/** The standard error of a script of the run. */
export function errorsOfStep(folders: RunFolders) {
  return (agent: string, step: number) => errorsIn(folders.step(agent, step));
}

/** The program of an agent on this machine. */
export function programOf(name: string, { agent, agents }: AgentOptions): Executable {
  if (name === claudeAgent.name) return findClaude(programIn(agent), process.env);
  if (name === codexAgent.name) return findCodex(programIn(agent, 'codexPath'), process.env);
  const known = acpCommands(agents)[name];
  if (known) return findAcp(name, known, process.env);
  throw new Error(`Bug: no program is known for ${name}`);
}

/**
 * Throws a UserError for a name that neither Raymond nor the usual agent of the run knows. Codex
 * takes the models of any provider, so it reports unknown names itself. Before the workflow is read,
 * `usual` is undefined, and only names that no agent knows are refused.
 */
export async function checkNames(
  usual: string | undefined,
  { agent: chosen, rehearse }: Settings,
  given: AgentOptions,
): Promise<void> {
  const { effort: named, permissionMode } = readRunChoices(chosen);
  const isOurs = usual === claudeAgent.name;
  const effort = isOurs || (named && nearest(named, EFFORTS)) ? named : undefined;
  for (const model of [chosen.model ?? []].flat().map(String))
    if (isOurs && !isModel(model)) throw unknownName('The agent', 'model', model, MODELS);
  const isKnown = (names: AgentNames) =>
    (effort === undefined || names.efforts.includes(effort)) &&
    names.permissionModes.includes(permissionMode);
  const known: AgentNames = { efforts: EFFORTS, permissionModes: PERMISSION_MODES };
  if (isKnown(known)) return;
  const executable = rehearse ? undefined : findClaude(programIn(given.agent), process.env);
  const names = executable?.found ? await claudeNames(executable.path, process.env) : known;
  if (isKnown(names)) return;
  if (effort !== undefined && !names.efforts.includes(effort))
    throw unknownName('The agent', 'effort', effort, names.efforts);
  throw unknownName('The agent', 'permission mode', permissionMode, names.permissionModes);
}

/** The program that a configuration names. */
export function programIn(
  given: Choices = {},
  choice: 'claudePath' | 'codexPath' = 'claudePath',
): string | undefined {
  const path = given[choice];
  return typeof path === 'string' ? path : undefined;
}

function unknownName(who: string, what: string, name: string, known: readonly string[]): UserError {
  const near = nearest(name, known);
  return new UserError(
    'unknown-name',
    `${who} does not know the ${what} "${name}".`,
    near ? `Did you mean ${near}?` : `Name one of ${[...new Set(known)].join(', ')}.`,
  );
}

/** The ports for tests of workflows. A test does not depend on the agent that the user chose. */
export function testPorts({ agents }: AgentOptions): TestPorts {
  return {
    scripts: (folder) => {
      const processes = new RunProcesses(folder);
      return {
        script: scriptExecutor(processes, { from: testEnvironment(process.env) }),
        endStrays: () => processes.endStrays(),
        worktrees: (run, project) =>
          gitWorktrees({
            run,
            folder: join(project, '.raymond/worktrees', run),
            records: join(folder, 'makings'),
            processes,
          }),
      };
    },
    ground: testGround,
    library: (cwd, unpackInto) =>
      looseLibrary(cwd, agents ? { agents } : {}).unpackingInto(unpackInto),
  };
}

function fileNamedBy({ rehearsalFile: file }: Settings): RehearsalFiles['fileOf'] | undefined {
  if (file === undefined) return undefined;
  return async () => {
    const found = await readNamedCompanion(rehearsalSchema, file);
    if (found) return found;
    throw new UserError('no-rehearsal', `${file} does not exist.`, 'Name an existing file.');
  };
}

/** The files that lie beside the workflows. */
export function ownFileOf(library: WorkflowLibrary): RehearsalFiles['fileOf'] {
  return async (ref) => {
    const file = (await companionsOf(ref, library.scriptFolder)).rehearsal;
    const found = await readCompanion(rehearsalSchema, file);
    checkStates(file, found, library.get(ref));
    return found;
  };
}

/** An answer for a missing state would never be used, and the author would not notice. */
function checkStates(file: string, found: Rehearsal | undefined, workflow: Workflow | undefined) {
  const given = [found?.answers ?? {}, ...Object.values(found?.answers_of ?? {})];
  for (const state of given.flatMap(Object.keys)) {
    const resolved = workflow ? findState(workflow, state) : undefined;
    if (resolved && 'problem' in resolved && resolved.problem === 'missing')
      throw new UserError(
        'bad-file',
        `${file}: answers has ${state}. ${resolved.message}`,
        'Fix the name.',
      );
  }
}
