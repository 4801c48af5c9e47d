import { freeze } from '../../journal/state-file.ts';
import { time, usd } from '../../observe/words.ts';
import { allRuns, condition, type DamagedRun, type FoundRun } from '../runs.ts';
import { currentProject } from '../store.ts';
import { table } from '../table.ts';
import { stderr, stdout } from '../terminal.ts';

export async function list({ json }: { readonly json?: boolean }): Promise<number> {
  const runs = await allRuns(await currentProject());
  if (json) {
    for (const run of runs) stdout.json(asJson(run));
    return 0;
  }
  if (runs.length === 0) {
    stderr.say('There are no runs in this project. Start one: raymond <workflow>');
    return 0;
  }
  const rows = runs.map((found) =>
    'run' in found
      ? [
          found.id,
          `${condition(found)}${found.run.settings.rehearse ? ' (rehearsal)' : ''}${found.isOwn ? '' : ' (not yours)'}`,
          pidOf(found),
          agentsOf(found),
          String(found.run.iterations),
          usd(found.run.totalCostUsd),
          time(found.run.startedAt),
        ]
      : [found.id, 'damaged', '', '', '', '', found.problem.message],
  );
  const head = ['RUN', 'STATUS', 'PID', 'AGENTS', 'STEPS', 'COST', 'STARTED'];
  for (const line of table(head, rows)) stdout.say(line);
  return 0;
}

const pidOf = ({ pid }: FoundRun) => (pid === undefined ? '' : String(pid));

function agentsOf({ run: { agents, endedAgents } }: FoundRun): string {
  const all = agents.size + endedAgents.size;
  return agents.size === all ? String(all) : `${agents.size} of ${all}`;
}

function asJson(found: FoundRun | DamagedRun) {
  if (!('run' in found))
    return { workflow_id: found.id, condition: 'damaged', problem: found.problem.message };
  const { agents, ended_agents, ...summary } = freeze(found.run);
  return {
    ...summary,
    condition: condition(found),
    rehearsal: found.run.settings.rehearse === true,
    own: found.isOwn,
    pid: found.pid ?? null,
    agents: agents.length,
    ended_agents: ended_agents.length,
  };
}
