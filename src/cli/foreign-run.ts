/**
 * A run that carries no seal of the user: it came with the project, or an older Raymond or another
 * machine started it. It is resumed only when a person wants it, and not under its own permissions.
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
 * The settings under which a person wants to go on with it: its own as far as they are harmless, and
 * what is given now. Throws a UserError when nobody wants it, or when its files are not those of a run.
 */
export async function acceptForeign(
  run: Run,
  workspace: Workspace,
  given: TrustOptions,
): Promise<Settings> {
  await workspace.check();
  checkVariables(run);
  const settings = settingsFrom(given, withoutHarm(run.settings));
  stderr.say(`${run.id} ${FOREIGN}`, ...facts(run, settings));
  if (given.trustRun) return settings;
  if (canConfirm() && !given.json && (await confirm('Resume it?'))) return settings;
  throw new UserError(
    'foreign-run',
    `${run.id} is not resumed without your yes.`,
    `Look at it: raymond show ${run.id}. If you want it: raymond resume ${run.id} --trust-run`,
  );
}

/** It can spend what a new run can, and do no more than that. */
function withoutHarm(settings: Settings): Settings {
  const usual = newRun.settings;
  const harmless = HARMLESS_SETTINGS.filter((name) => settings[name] !== undefined);
  return {
    ...usual,
    ...Object.fromEntries(harmless.map((name) => [name, settings[name]])),
    agent: agent.withoutHarm(settings.agent),
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
    `  budget       ${change(budget(run.settings), budget(settings))}, ${usd(run.totalCostUsd)} spent`,
  ];
}

const change = (before: string, now: string) =>
  before === now ? now : `${now} (the run had: ${before})`;

/** What is chosen for the agent, as far as either has something. */
function agentFacts(before: Settings, now: Settings): readonly string[] {
  const was = agent.factsOf(before.agent);
  return Object.entries(agent.factsOf(now.agent)).flatMap(([name, value]) => {
    const had = was[name] ?? value;
    if (had === 'none' && value === 'none') return [];
    return [`  ${name.padEnd(12)} ${change(had, value)}`];
  });
}

const budget = ({ budgetUsd }: Settings) => (budgetUsd > 0 ? usd(budgetUsd) : 'none');

/** Nobody checked its variables, and an agent may have chosen them. */
function checkVariables(run: Run): void {
  const names = [...run.agents].flatMap(([, { variables }]) => Object.keys(variables));
  for (const name of [...Object.keys(run.metadata), ...names]) {
    const problem = agentVariableProblem(name, environmentNames());
    if (problem)
      throw new UserError(
        'foreign-run',
        `${run.id} was not started by you here, and its variable ${problem}.`,
        'Start the workflow anew.',
      );
  }
}
