/**
 * A run without a seal of the user. It came with the project, or an older Raymond or another machine
 * started it. Raymond resumes it only after a yes, and without its own permissions.
 */
import { newRun } from '../interpret/new-run.ts';
import type { Settings } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import { usd } from '../observe/words.ts';
import type { RunOptions } from '../options/run-options.ts';
import { agentVariableProblem } from '../parse/variables.ts';
import type { Workspace } from '../ports.ts';
import { agent } from './agent.ts';
import { canConfirm, confirm } from './confirm.ts';
import { FOREIGN, HARMLESS_SETTINGS } from './own-runs.ts';
import { settingsFrom } from './settings.ts';
import { stderr } from './terminal.ts';
import { environmentNames } from './world.ts';

export interface TrustOptions extends RunOptions {
  readonly trustRun?: boolean;
}

/**
 * The settings with which the run continues: its harmless settings, and the options given now. Throws
 * a UserError if no person agrees, or if the files of the run are not safe.
 */
export async function acceptForeign(
  run: Run,
  workspace: Workspace,
  given: TrustOptions,
): Promise<Settings> {
  await workspace.check();
  checkVariables(run);
  const settings = settingsFrom(given, keepHarmless(run.settings));
  stderr.say(`${run.id} ${FOREIGN}`, ...facts(run, settings));
  if (given.trustRun) return settings;
  if (canConfirm() && !given.json && (await confirm('Resume it?'))) return settings;
  throw new UserError(
    'foreign-run',
    `${run.id} needs your approval before it can be resumed.`,
    `Check it: raymond show ${run.id}. To approve it: raymond resume ${run.id} --trust-run`,
  );
}

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

function facts(run: Run, settings: Settings): readonly string[] {
  const agents = [...run.agents].map(([, agent]) => agent);
  const frames = agents.flatMap(({ stack }) => stack);
  const workflows = new Set([run.workflow, ...[...agents, ...frames].map((at) => at.workflow)]);
  const folders = new Set([run.cwd, ...[...agents, ...frames].map((at) => at.cwd)]);
  return [
    ...[...workflows].map((workflow) => `  workflow     ${workflow}`),
    ...[...folders].map((folder) => `  directory    ${folder}`),
    ...agentFacts(run.settings, settings),
    `  budget       ${change(budget(run.settings), budget(settings))}, ${usd(run.totalCostUsd, run.isPriced)} spent`,
  ];
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
  const names = [...run.agents].flatMap(([, { variables }]) => Object.keys(variables));
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
