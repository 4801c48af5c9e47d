import { UserError } from '../model/user-error.ts';
import type { Disk } from './disk.ts';
import type { Project } from './project.ts';
import { checkRunId } from './run-id.ts';

/** The ids of all runs of which anything is left, in order. */
export async function listRuns(disk: Disk, project: Project): Promise<string[]> {
  if ((await disk.kind(project.stateFolder)) !== 'folder') return [];
  const ids = new Set<string>();
  for (const name of await disk.list(project.stateFolder)) {
    const id = /^([^.].*)\.jsonl?$/u.exec(name)?.[1];
    if (id) ids.add(id);
  }
  return [...ids].sort();
}

/** The id that is meant: as it is, or shortened as long as only one run begins like that. */
export async function findRun(disk: Disk, project: Project, text: string): Promise<string> {
  const wanted = checkRunId(text);
  const ids = await listRuns(disk, project);
  if (ids.includes(wanted)) return wanted;
  const [only, ...others] = ids.filter((id) => id.startsWith(wanted));
  if (only === undefined) throw noSuchRun(wanted, ids);
  if (others.length > 0) throw ambiguous(wanted, [only, ...others]);
  return only;
}

function ambiguous(wanted: string, ids: readonly string[]): UserError {
  return new UserError(
    'ambiguous-run',
    `${ids.length} runs begin with ${wanted}: ${someOf(ids)}.`,
    'Write more of the id.',
  );
}

function noSuchRun(wanted: string, ids: readonly string[]): UserError {
  const near = nearest(wanted, ids);
  return new UserError(
    'no-run',
    `There is no run ${wanted} in this project.`,
    near.length > 0 ? `Did you mean ${someOf(near)}?` : 'See which runs there are: raymond list',
  );
}

const SHOWN = 5;

function someOf(ids: readonly string[]): string {
  const rest = ids.length - SHOWN;
  return ids.slice(0, SHOWN).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Those that a few slips of the keys turn into, or begin like, what was wanted. */
function nearest(wanted: string, ids: readonly string[]): string[] {
  const limit = Math.max(2, Math.floor(wanted.length / 3));
  return ids
    .map((id) => ({ id, slips: Math.min(distance(wanted, id), distance(wanted, beginning(id))) }))
    .filter(({ slips }) => slips <= limit)
    .sort((a, b) => a.slips - b.slips)
    .map(({ id }) => id);

  function beginning(id: string): string {
    return id.slice(0, wanted.length);
  }
}

/** Levenshtein's: how many characters to insert, delete or change. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
