/** The value that a state receives from a join. */
import type { WorkerStatus } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Run } from '../model/run.ts';

/**
 * The JSON array of the workers, in the order of their forks. A worker without a git worktree has
 * no `branch`, `commits` and `dirty`.
 */
export function resultArray(
  run: Run,
  workers: readonly { readonly agent: string; readonly status: WorkerStatus }[],
): string {
  const rows = workers.map(({ agent, status }) => rowOf(run, agent, status));
  const longest = longestText(rows);
  return JSON.stringify(rows, (_, value) =>
    typeof value === 'string' && value.length > longest ? null : value,
  );
}

interface Row {
  readonly agent: string;
  readonly state: string;
  readonly status: WorkerStatus;
  readonly result: string | null;
  readonly failure: Failure | null;
  readonly variables: Readonly<Record<string, string>>;
  readonly cost_usd: number;
}

function rowOf(run: Run, agent: string, status: WorkerStatus): Row {
  const live = run.agents.get(agent);
  const ended = run.endedAgents.get(agent);
  const end = ended?.end ?? live?.status;
  const worker = live ?? ended;
  return {
    agent,
    state: worker?.state ?? '',
    status,
    result: end?.kind === 'ended' ? end.result : null,
    failure: end?.kind === 'failed' ? end.failure : null,
    variables: worker?.variables ?? {},
    cost_usd: worker?.costUsd ?? 0,
  };
}

/** The most characters of an array. A journal line holds all of it. */
const LARGEST_ARRAY = 16 * 1024 * 1024;

/**
 * The length from which a text is left out of an array that would be too large. The file of a
 * result still holds all of it.
 */
function longestText(rows: readonly Row[]): number {
  let [total, count] = [0, 0];
  for (const { agent, state, result, failure, variables } of rows) {
    const texts = [agent, state, result, failure?.message, ...Object.entries(variables).flat()];
    for (const text of texts) total += text?.length ?? 0;
    count += texts.length;
  }
  return total <= LARGEST_ARRAY ? Number.POSITIVE_INFINITY : Math.floor(LARGEST_ARRAY / count);
}
