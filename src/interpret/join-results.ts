/** The value that a state receives from a join. */
import type { ChildStatus } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Run } from '../model/run.ts';
import type { AgentWorktree } from '../model/worktree.ts';

/** The JSON array of the children, in the order of their forks. */
export function resultArray(
  run: Run,
  children: readonly { readonly agent: string; readonly status: ChildStatus }[],
): string {
  const rows = children.map(({ agent, status }) => rowOf(run, agent, status));
  const longest = longestText(rows);
  const typed = rows.map((row) => ({ ...row, result: typedResult(run, row, longest) }));
  return JSON.stringify(typed, (_, value) =>
    typeof value === 'string' && value.length > longest ? null : value,
  );
}

/** The text of a result, or its JSON if it was checked with a schema. */
function typedResult(run: Run, { agent, result }: Row, longest: number): unknown {
  const end = run.endedAgents.get(agent)?.end;
  const isChecked = end?.kind === 'ended' && end.checked === true;
  if (result === null || !isChecked) return result;
  return result.length > longest ? null : JSON.parse(result);
}

interface Row {
  readonly agent: string;
  readonly state: string;
  readonly status: ChildStatus;
  readonly result: string | null;
  readonly failure: Failure | null;
  readonly variables: Readonly<Record<string, string>>;
  readonly cost_usd: number;
  /** Only for a child with a git worktree. */
  readonly worktree?: string | null;
  readonly branch?: string | null;
  readonly commits?: number | null;
  readonly dirty?: boolean | null;
}

function rowOf(run: Run, agent: string, status: ChildStatus): Row {
  const live = run.agents.get(agent);
  const ended = run.endedAgents.get(agent);
  const end = ended?.end ?? live?.status;
  const child = live ?? ended;
  return {
    agent,
    state: child?.state ?? '',
    status,
    result: end?.kind === 'ended' ? end.result : null,
    failure: end?.kind === 'failed' ? end.failure : null,
    variables: child?.variables ?? {},
    cost_usd: child?.costUsd ?? 0,
    ...(child?.worktree && workIn(child.worktree, child.steps, ended?.worktree?.fate)),
  };
}

/** The work that a merge can use. The worktree is made for the first step. */
function workIn(
  { tree, look, branch }: AgentWorktree,
  steps: number,
  fate: string | undefined,
): Pick<Row, 'worktree' | 'branch' | 'commits' | 'dirty'> {
  const isMade = tree !== undefined && steps > 0;
  if (!isMade || fate === 'removing' || fate === 'removed')
    return { worktree: null, branch: null, commits: 0, dirty: false };
  return {
    worktree: look?.missing ? null : tree.path,
    branch: look?.branch ?? branch,
    commits: look?.commits ?? null,
    dirty: look?.dirty ?? null,
  };
}

/** The maximum length of an array, in characters. A journal line contains all of it. */
const LARGEST_ARRAY = 16 * 1024 * 1024;

/**
 * The length from which a text is left out of an array that would be too large. The file of a result
 * still contains all of it.
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
