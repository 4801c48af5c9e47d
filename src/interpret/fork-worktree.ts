/** Decides on the worktree that a fork asks for. */
import type { RunEventOf } from '../model/event.ts';
import type { Failure } from '../model/failure.ts';
import type { Facts } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import type { Fork } from '../model/transition.ts';
import { sameOnDisk, type Worktree } from '../model/worktree.ts';
import { isBranchPart } from '../parse/worktree-names.ts';

type ChildPlace =
  | { readonly ok: true; readonly cwd: string; readonly worktree?: Worktree }
  | { readonly ok: false; readonly failure: Failure };

/** Where a child works: in the directory that the fork names, or at the same place in a worktree. */
export function childPlace(
  run: Run,
  facts: Facts,
  fork: Fork,
  { agent, directory }: { readonly agent: string; readonly directory: string },
): ChildPlace {
  if (fork.worktree === undefined) return { ok: true, cwd: directory };
  const name = fork.worktree === 'true' ? agent : fork.worktree;
  const part = [run.id, agent, name].find((text) => !isBranchPart(text));
  if (part !== undefined) return problem(`"${part}" cannot be part of the name of a branch.`);
  const fact = facts.worktrees.get(worktreeKey(fork));
  if (!fact?.found) return problem(fact?.problem ?? 'Raymond has not looked at the repository.');

  const wanted = `raymond/${run.id}/${name}`;
  if (!fact.tree) return { ok: true, cwd: directory, worktree: { branch: wanted } };
  const { repository, base, folder, place, taken } = fact.tree;
  const branch = besideGone(run, wanted, taken);
  if (taken.has(sameOnDisk(branch))) return problem(`${exists(branch)} ${REMEDY}`);
  const path = `${folder}/${agent}`;
  const cwd = place === '' ? path : `${path}/${place}`;
  return { ok: true, cwd, worktree: { branch, tree: { path, base, repository } } };
}

/** After a rewind, the worktree of a child that is gone keeps its branch, and the next one gets another. */
function besideGone({ endedAgents }: Run, wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(sameOnDisk(wanted))) return wanted;
  const isGone = [...endedAgents].some(
    ([, { end, worktree }]) => end.kind === 'rewound' && worktree?.branch === wanted,
  );
  if (!isGone) return wanted;
  let number = 2;
  while (taken.has(sameOnDisk(`${wanted}-${number}`))) number++;
  return `${wanted}-${number}`;
}

/** Why the children of one answer cannot all have their worktrees; undefined when they can. */
export function branchClash(forks: readonly RunEventOf<'agent-forked'>[]): Failure | undefined {
  const given = new Set<string>();
  for (const { worktree } of forks) {
    if (!worktree) continue;
    const name = sameOnDisk(worktree.branch);
    if (given.has(name)) {
      return failure(`Two forks ask for a worktree on the branch ${worktree.branch}. ${REMEDY}`);
    }
    given.add(name);
  }
  return undefined;
}

/** Forks with the same key need the same facts. */
export function worktreeKey({ cd, base }: Pick<Fork, 'cd' | 'base'>): string {
  return JSON.stringify([cd ?? null, base ?? null]);
}

const exists = (branch: string) => `The branch ${branch} already exists.`;
const REMEDY =
  'Give each worktree of the run its own name, or write worktree="true". Upper and lower case count as the same.';

function problem(message: string): ChildPlace {
  return { ok: false, failure: failure(message) };
}

function failure(message: string): Failure {
  return { kind: 'bad-worktree', message };
}
