/**
 * A run that is not the user's own. It came with the project, somebody changed its journal, or an older
 * Raymond or another machine started it. Raymond resumes it only after a yes, and without its own
 * permissions. Before the yes, nothing of it takes effect.
 */
import { newRun } from '../interpret/new-run.ts';
import type { Settings } from '../model/event.ts';
import type { Door } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import { usd } from '../observe/words.ts';
import { agentVariableProblem } from '../parse/variables.ts';
import type { OpenedRun, Workspace } from '../ports.ts';
import { agent } from '../world/agent.ts';
import { settingsFrom } from '../world/config/settings.ts';
import { environmentNames } from '../world/ground.ts';
import { HARMLESS_SETTINGS, notYours } from '../world/sealed-choices.ts';
import type { ResumeOptions } from './resume.ts';
import { consented } from './started-run.ts';

/**
 * The settings with which the run continues: its harmless settings, and the options given now. Throws
 * a UserError if no person agrees, or if the files of the run are not safe.
 */
export async function acceptForeign(
  { run, doubt }: Pick<OpenedRun, 'run' | 'doubt'>,
  workspace: Workspace,
  files: FilesNow,
  given: ResumeOptions,
  door: Door,
  /** The command that needs the consent. */
  { done, command } = RESUME,
): Promise<Settings> {
  await workspace.check();
  checkVariables(run);
  const settings = settingsFrom(given, keepHarmless(run.settings));
  const shown = [notYours(run.id, doubt), ...facts(run, files, settings)];
  if (await consented(door, { kind: 'foreign-run', facts: shown }, given.trustRun)) return settings;
  const isPartlyOwn = doubt?.line !== undefined && doubt.line > 1;
  throw new UserError(
    'foreign-run',
    `${run.id} needs your approval before it can be ${done}.`,
    `Check it: raymond show ${run.id}. ${isPartlyOwn ? `To continue after line ${doubt.line - 1}, the last one of yours: raymond resume ${run.id} --salvage. ` : ''}To approve it: raymond ${command} ${run.id} --trust-run`,
  );
}

const RESUME = { done: 'resumed', command: 'resume' };

/** The run may spend and do no more than a new run. */
function keepHarmless(settings: Settings): Settings {
  const usual = newRun.settings;
  const harmless = HARMLESS_SETTINGS.filter((name) => settings[name] !== undefined);
  return {
    ...usual,
    ...Object.fromEntries(harmless.map((name) => [name, settings[name]])),
    agent: agent.keepHarmless(settings.agent),
    budgetUsd:
      settings.budgetUsd > 0 ? Math.min(settings.budgetUsd, usual.budgetUsd) : usual.budgetUsd,
  };
}

/** The files of workflows, as they are now. */
export type FilesNow = ReadonlyMap<string, readonly string[]>;

function facts(run: Run, files: FilesNow, settings: Settings): readonly string[] {
  const agents = [...run.agents].map(([, agent]) => agent);
  const frames = agents.flatMap(({ stack }) => stack);
  const workflows = new Set([run.workflow, ...[...agents, ...frames].map((at) => at.workflow)]);
  const folders = new Set([run.cwd, ...[...agents, ...frames].map((at) => at.cwd)]);
  return [
    ...[...workflows].map((workflow) => `  workflow     ${workflow}`),
    ...[...files].map(([workflow, names]) => `  files        ${listed(workflow, names)}`),
    ...[...folders].map((folder) => `  directory    ${folder}`),
    ...agentFacts(run.settings, settings),
    `  budget       ${change(budget(run.settings), budget(settings))}, ${usd(run.totalCostUsd, run.isPriced)} spent`,
    ...run.restoring.map(({ root }) => `  replaces     the files of ${root} with earlier ones`),
    ...(files.size > 0
      ? ['With the run you accept these files as they are now, whatever its journal says of them.']
      : []),
  ];
}

const MOST_NAMES = 20;

function listed(workflow: string, names: readonly string[]): string {
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : '';
  return `${workflow}: ${names.slice(0, MOST_NAMES).join(', ') || 'none'}${more}`;
}

const change = (before: string, now: string) =>
  before === now ? now : `${now} (the run had: ${before})`;

/** The choices for the agent, without those that are "none" before and now. */
function agentFacts(before: Settings, now: Settings): readonly string[] {
  const was = agent.summarize(before.agent);
  return Object.entries(agent.summarize(now.agent)).flatMap(([name, value]) => {
    const had = was[name] ?? value;
    if (had === 'none' && value === 'none') return [];
    return [`  ${name.padEnd(12)} ${change(had, value)}`];
  });
}

const budget = ({ budgetUsd }: Settings) => (budgetUsd > 0 ? usd(budgetUsd) : 'none');

/** An agent may have chosen the variables of such a run, so Raymond checks them. */
function checkVariables(run: Run): void {
  const names = [...run.agents].flatMap(([, { variables, withheld }]) =>
    Object.keys(variables).filter((name) => !withheld.includes(name)),
  );
  for (const name of [...Object.keys(run.metadata), ...names]) {
    const problem = agentVariableProblem(name, environmentNames());
    if (problem)
      throw new UserError(
        'foreign-run',
        `You did not start ${run.id} here, and its variable ${problem}.`,
        'Start the workflow again.',
      );
  }
}
