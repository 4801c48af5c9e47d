import { freeze } from '../../journal/state-file.ts';
import { counted } from '../../model/counted.ts';
import { type Doing, doingByAgent, isDoing } from '../../model/now.ts';
import type { Agent, AgentEnd, JoiningStatus, Run } from '../../model/run.ts';
import type { Line } from '../../observe/describe.ts';
import { doingText } from '../../observe/doing-text.ts';
import { retelling } from '../../observe/retell.ts';
import { duration, oneLine, time, usd } from '../../observe/words.ts';
import type { StoredRun } from '../../ports.ts';
import { agent } from '../agent.ts';
import { backgroundLog } from '../background-log.ts';
import { FOREIGN } from '../own-runs.ts';
import { condition, openRun, runToSee } from '../runs.ts';
import type { Here } from '../surroundings.ts';
import { table } from '../table.ts';
import { stdout } from '../terminal.ts';

export async function show(
  here: Here,
  name: string | undefined,
  { json }: { readonly json?: boolean },
): Promise<number> {
  const { store, workspace } = await here();
  const id = await runToSee(store, name);
  if (json) {
    const found = await openRun(store, id);
    const { run, isOwn: own, owner } = found;
    const pid = owner?.pid ?? null;
    const log = backgroundLog(workspace(run.id)) ?? null;
    stdout.json({ ...freeze(run), condition: condition(found), own, pid, log }, 2);
    return 0;
  }
  const history: Line[] = [];
  const retell = retelling(agent.alarmsOf);
  const found = await openRun(store, id, (...seen) => history.push(...retell(...seen)));
  // One by one, because the number of arguments of a call is limited.
  const { run } = found;
  const now = doingByAgent(found.owner && (await store.now(found.id)));
  const log = backgroundLog(workspace(run.id));
  const logLines = log === undefined ? [] : [`  log       ${log}`];
  const tables = [...agents(run, now), ...handled(run), ...worktrees(run)];
  for (const line of [...summary(found), ...logLines, ...tables]) stdout.say(line);
  stdout.say('', 'History');
  stdout.lines(history, { indent: '  ' });
  return 0;
}

function summary(found: StoredRun): readonly string[] {
  const { run, owner } = found;
  const budget = run.settings.budgetUsd > 0 ? ` of ${usd(run.settings.budgetUsd)}` : '';
  const metadata = Object.entries(run.metadata).map(([name, value]) => `${name}=${oneLine(value)}`);
  return [
    `${run.id}: ${condition(found)}${owner ? ` (pid ${owner.pid})` : ''}`,
    ...(found.isOwn ? [] : [`  NOT YOURS: it ${FOREIGN}`]),
    ...(run.settings.rehearse ? [rehearsalLine(run)] : []),
    `  workflow  ${run.workflow}`,
    `  started   ${time(run.startedAt, Date.now())}, ran for ${duration(run.updatedAt - run.startedAt)}`,
    `  cost      ${usd(run.totalCostUsd)}${budget}, ${counted(run.iterations, 'step')}`,
    ...(metadata.length > 0 ? [`  set       ${metadata.join(', ')}`] : []),
    ...(run.result === undefined ? [] : [`  result    ${oneLine(run.result)}`]),
  ];
}

function rehearsalLine({ settings }: Run): string {
  const scripts = settings.rehearseScripts ? ' It executed scripts.' : '';
  return `  REHEARSAL: the run called no model and spent nothing.${scripts}`;
}

/** The worktrees that exist, and what a merge would find in them. */
function worktrees(run: Run): readonly string[] {
  const rows: string[][] = [];
  for (const agents of [run.endedAgents, run.agents])
    for (const [id, agent] of agents) {
      const { worktree } = agent;
      const isGone = worktree && 'fate' in worktree && worktree.fate !== 'kept';
      if (!worktree?.tree || isGone || agent.steps === 0) continue;
      const { branch = worktree.branch, commits = '?', dirty } = worktree.look ?? {};
      const changes = dirty === undefined ? '?' : dirty ? 'uncommitted' : '-';
      rows.push([id, branch, String(commits), changes, worktree.tree.path]);
    }
  if (rows.length === 0) return [];
  return ['', ...table(['WORKTREE OF', 'BRANCH', 'COMMITS', 'CHANGES', 'FOLDER'], rows)];
}

function agents(run: Run, now: ReadonlyMap<string, Doing>): readonly string[] {
  if (run.agents.size === 0) return [];
  const rows = [...run.agents].map(([, agent]) => [
    agent.id,
    agent.state,
    doing(agent, now.get(agent.id)),
    agent.stack.map((frame) => frame.state).join(' < ') || '-',
    usd(agent.costUsd),
  ]);
  return ['', ...table(['AGENT', 'STATE', 'STATUS', 'RETURNS TO', 'COST'], rows)];
}

/** Failed and stopped agents that a join has reported. The run does not fail because of them. */
function handled({ endedAgents }: Run): readonly string[] {
  const rows = [...endedAgents].flatMap(([id, { state, end, costUsd }]) =>
    end.kind === 'ended' ? [] : [[id, state, endText(end), usd(costUsd)]],
  );
  return rows.length > 0 ? ['', ...table(['JOINED', 'STATE', 'STATUS', 'COST'], rows)] : [];
}

function endText(end: Exclude<AgentEnd, { kind: 'ended' }>): string {
  return end.kind === 'stopped' ? 'stopped' : `failed: ${oneLine(end.failure.message, 80)}`;
}

function doing(agent: Agent, now: Doing | undefined): string {
  const { status } = agent;
  switch (status.kind) {
    case 'ready':
      return 'ready';
    case 'running':
      return `running since ${time(status.startedAt, Date.now())}${isDoing(agent, now) ? `: ${doingText(now)}` : ''}`;
    case 'deciding':
      return 'deciding';
    case 'waiting':
      return `waiting until ${time(status.until, Date.now())}: ${oneLine(status.failure.message, 60)}`;
    case 'asking':
      return `asking: ${oneLine(status.question, 60)}`;
    case 'joining':
      return joinText(status);
    case 'failed':
      return `failed: ${oneLine(status.failure.message, 80)}`;
  }
}

/** `joining main_a1, main_b2: 1 of 2 still work` */
function joinText({ join: { workers }, open, closed }: JoiningStatus): string {
  const names = oneLine(workers.join(', '), 60);
  return closed
    ? `joining ${names}: stops the rest`
    : `joining ${names}: ${open} of ${workers.length} still work`;
}
