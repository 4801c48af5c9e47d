/** The files that a run, an agent or a step has changed. Nothing changes. */
import { FileRecords, type StepFiles } from '../history/file-records.ts';
import { RunHistory } from '../history/run-history.ts';
import { openRun } from '../host/open-run.ts';
import type { ChangedFolder, Diff } from '../look/diff-shape.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import { nearest } from '../parse/nearest.ts';
import type { FileComparer, RecordPair } from '../ports.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { comparerOf } from '../world/wire.ts';

export type { Diff };

export interface WantedDiff {
  readonly agent?: string | undefined;
  /** Only with an agent. */
  readonly step?: number | undefined;
}

/** Throws a UserError if the run, the agent or the step does not exist. */
export async function diff(
  around: Surroundings,
  id: string,
  { agent, step }: WantedDiff = {},
): Promise<Diff> {
  const records = new FileRecords();
  const history = new RunHistory();
  const { isOwn } = await openRun(around.store, id, (event, _, after) => {
    records.follow(event, after);
    history.follow(event, after);
  });
  if (!isOwn) throw foreign(id);
  const counting = records.all.filter((one) => !history.isAbandoned(one));
  const wanted = counting.filter(
    (one) =>
      (agent === undefined || one.agent === agent) && (step === undefined || one.step === step),
  );
  if (wanted.length === 0 && agent !== undefined) throw unknown(id, records.all, { agent, step });
  const over = wanted.filter(({ to }) => to !== undefined);
  const recorded = over.filter(({ after }) => after !== undefined);
  const comparer = comparerOf(around, id);
  const folders: ChangedFolder[] = [];
  // In turn: each starts processes.
  for (const own of byRoot(comparer, recorded).values())
    folders.push(await folderOf(comparer, own, counting));
  return {
    run: id,
    agent: agent ?? null,
    step: step ?? null,
    folders,
    recorded: recorded.length,
    unrecorded: over.length - recorded.length,
    running: wanted.length - over.length,
  };
}

interface OwnSteps {
  readonly root: string;
  readonly steps: readonly StepFiles[];
}

function byRoot(
  comparer: FileComparer,
  recorded: readonly StepFiles[],
): ReadonlyMap<string, OwnSteps> {
  const roots = new Map<string, string>();
  const found = new Map<string, { root: string; steps: StepFiles[] }>();
  for (const step of recorded) {
    // The directory itself stands for a tree of another machine.
    const root = roots.get(step.cwd) ?? comparer.rootOf(step.cwd) ?? step.cwd;
    roots.set(step.cwd, root);
    const known = found.get(root);
    if (known) known.steps.push(step);
    else found.set(root, { root, steps: [step] });
  }
  return found;
}

async function folderOf(
  comparer: FileComparer,
  { root, steps }: OwnSteps,
  all: readonly StepFiles[],
): Promise<ChangedFolder> {
  const agents = [...new Set(steps.map(({ agent }) => agent))];
  const worktree = steps[0]?.worktree?.tree?.path === root ? steps[0].worktree : undefined;
  const others = all.filter(
    (one) =>
      !agents.includes(one.agent) &&
      one.cwd.startsWith(root) &&
      steps.some(overlaps(one)) &&
      // A worktree may be below the root.
      comparer.rootOf(one.cwd) === root,
  );
  const branch = worktree?.branch;
  const facts = {
    folder: root,
    branch: branch ?? null,
    merged: branch === undefined ? null : await isMerged(comparer, steps, branch),
    agents,
    others: [...new Set(others.map(({ agent }) => agent))],
  };
  if (comparer.rootOf(root) !== root)
    return { ...facts, files: [], more: 0, problem: 'Its files were recorded on another machine.' };
  try {
    return { ...facts, ...(await comparer.compare(root, pairsOf(steps, agents))), problem: null };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...facts, files: [], more: 0, problem: `Its files cannot be compared: ${why}` };
  }
}

/** The parent of a worktree has its own root, where a branch is merged. */
async function isMerged(
  comparer: FileComparer,
  [first]: readonly StepFiles[],
  branch: string,
): Promise<boolean | null> {
  const path = first?.worktree?.tree?.path;
  return path === undefined ? null : ((await comparer.isMerged(path, branch)) ?? null);
}

const overlaps = (one: StepFiles) => (other: StepFiles) =>
  one.from < (other.to ?? Number.POSITIVE_INFINITY) &&
  other.from < (one.to ?? Number.POSITIVE_INFINITY);

/** All work of a run is one pair. The work of an agent has gaps, in which others may have worked. */
function pairsOf(steps: readonly StepFiles[], agents: readonly string[]): readonly RecordPair[] {
  const pairs: [string, string][] = [];
  for (const { before, after } of steps) {
    if (after === undefined) continue;
    const last = pairs.at(-1);
    if (last && (agents.length > 1 || before === undefined || before === last[1])) last[1] = after;
    else pairs.push([before ?? last?.[1] ?? after, after]);
  }
  return pairs;
}

function unknown(
  id: string,
  all: readonly StepFiles[],
  { agent = '', step }: WantedDiff,
): UserError {
  const names = [...new Set(all.map((one) => one.agent))];
  if (names.includes(agent))
    return new UserError(
      'not-found',
      `${agent} of ${id} has no step ${step ?? 1}, or a rewind has abandoned it.`,
      `To see the steps: raymond show ${shellWord(id)} --steps`,
    );
  const near = nearest(agent, names);
  return new UserError(
    'no-agent',
    `The run has no agent ${agent}.`,
    near === undefined
      ? `To see its agents: raymond show ${shellWord(id)}`
      : `Did you mean ${near}?`,
  );
}

function foreign(id: string): UserError {
  return new UserError(
    'foreign-run',
    `You did not start ${id} here, so Raymond does not compare its files.`,
    `To accept it as yours: raymond resume ${id} --trust-run`,
  );
}
