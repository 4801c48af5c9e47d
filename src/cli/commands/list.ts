import type { freeze as Freeze } from '../../journal/state-file.ts';
import type { RunSummary } from '../../model/run-summary.ts';
import { time, usd } from '../../observe/words.ts';
import type { LookedAtRun, StoredRun } from '../../ports.ts';
import { allRuns, condition } from '../runs.ts';
import type { Here } from '../surroundings.ts';
import { table } from '../table.ts';
import { stderr, stdout } from '../terminal.ts';

export async function list(here: Here, { json }: { readonly json?: boolean }): Promise<number> {
  const { store } = await here();
  const runs = await allRuns(store);
  if (json) {
    const { freeze } = await import('../../journal/state-file.ts');
    for (const { id } of runs) stdout.json(asJson(await store.look(id), freeze));
    return 0;
  }
  if (runs.length === 0) {
    stderr.say('This project has no runs. To start one: raymond <workflow>');
    return 0;
  }
  const rows = runs.map((found) =>
    found.kind === 'stored'
      ? [
          found.id,
          `${condition(found)}${found.run.isRehearsal ? ' (rehearsal)' : ''}${found.isOwn ? '' : ' (not yours)'}`,
          pidOf(found),
          agentsOf(found),
          String(found.run.iterations),
          usd(found.run.totalCostUsd),
          time(found.run.startedAt, Date.now()),
        ]
      : [found.id, 'damaged', '', '', '', '', found.problem.message],
  );
  const head = ['RUN', 'STATUS', 'PID', 'AGENTS', 'STEPS', 'COST', 'STARTED'];
  for (const line of table(head, rows)) stdout.say(line);
  return 0;
}

const pidOf = ({ owner }: StoredRun<RunSummary>) => (owner ? String(owner.pid) : '');

function agentsOf({ run: { agents, endedAgents } }: StoredRun<RunSummary>): string {
  return endedAgents === 0 ? String(agents) : `${agents} of ${agents + endedAgents}`;
}

function asJson(found: LookedAtRun, freeze: typeof Freeze) {
  if (found.kind === 'damaged')
    return { workflow_id: found.id, condition: 'damaged', problem: found.problem.message };
  const { agents, ended_agents, ...summary } = freeze(found.run);
  return {
    ...summary,
    condition: condition(found),
    rehearsal: found.run.settings.rehearse === true,
    own: found.isOwn,
    pid: found.owner?.pid ?? null,
    agents: agents.length,
    ended_agents: ended_agents.length,
  };
}
