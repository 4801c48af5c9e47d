/** Finds the runs of a project that a person means, and says how they stand. */
import { checkRunId, isRunId } from '../journal/run-id.ts';
import { allRuns } from '../look/all-runs.ts';
import { conditionOf, type FoundFacts } from '../model/condition.ts';
import type { RunSummary } from '../model/run-summary.ts';
import { UserError } from '../model/user-error.ts';
import { conditionText, time } from '../observe/words.ts';
import { nearestFew } from '../parse/nearest.ts';
import type { RunStore, StoredRun, SurveyedRun } from '../ports.ts';

export { allRuns };

/**
 * The run for a command that only looks: the newest one that the name may mean, or the newest of all.
 * A command that prefers some runs passes `fits`; if no run fits, the newest one of all counts.
 */
export async function runToSee(
  store: RunStore,
  name: string | undefined,
  fits: (found: StoredRun<RunSummary>) => boolean = () => true,
): Promise<string> {
  if (name === undefined) {
    const runs = await allRuns(store);
    const found = runs.findLast((one) => one.kind === 'stored' && fits(one)) ?? runs.at(-1);
    if (!found) throw noRuns();
    return found.id;
  }
  const [only = '', ...others] = idsMeant(await store.list(), name);
  if (others.length === 0) return only;
  const meant = new Set([only, ...others]);
  return (await allRuns(store)).findLast(({ id }) => meant.has(id))?.id ?? only;
}

/** The run for a command that acts. A name that several runs begin with is an error that lists them. */
export async function runToChange(store: RunStore, name: string): Promise<string> {
  const [only = '', ...others] = idsMeant(await store.list(), name);
  if (others.length === 0) return only;
  const meant = new Set([only, ...others]);
  const runs = (await allRuns(store)).filter(({ id }) => meant.has(id)).toReversed();
  throw ambiguousRun(name, runs.map(described));
}

function described(found: SurveyedRun): string {
  if (found.kind === 'damaged') return `${found.id} (damaged)`;
  return `${found.id} (${statusOf(found)}, started ${time(found.run.startedAt, Date.now())})`;
}

function noRuns(): UserError {
  return new UserError('no-run', 'This project has no runs.', 'To start one: raymond <workflow>');
}

/** The status of the run in words, as `list` shows it. */
export const statusOf = (found: FoundFacts): string =>
  conditionText(conditionOf(found), Date.now());

/** The ids that the text may mean: the id itself, or each id that begins with the text. Never empty. */
export function idsMeant(ids: readonly string[], text: string): readonly string[] {
  const wanted = checkRunId(text);
  if (ids.includes(wanted)) return [wanted];
  const found = ids.filter((id) => id.startsWith(wanted));
  if (found.length === 0) throw noSuchRun(wanted, ids);
  return found;
}

/** Whether a word is the id of a run, its prefix, or similar to it. */
export function meansRun(ids: readonly string[], word: string): boolean {
  const wanted = word.normalize('NFC');
  if (!isRunId(wanted)) return false;
  if (ids.some((id) => id.startsWith(wanted))) return true;
  return wanted.length >= LEAST_LETTERS && nearest(wanted, ids).length > 0;
}

/** Shorter words resemble too many ids. */
const LEAST_LETTERS = 5;

/** `described` has one text for each of the runs. */
export function ambiguousRun(wanted: string, described: readonly string[]): UserError {
  return new UserError(
    'ambiguous-run',
    `${described.length} runs begin with ${wanted}: ${someOf(described)}.`,
    'Write more of the id.',
  );
}

export function noSuchRun(wanted: string, ids: readonly string[]): UserError {
  const near = nearest(wanted, ids);
  return new UserError(
    'no-run',
    `This project has no run ${wanted}.`,
    near.length > 0 ? `Did you mean ${someOf(near)}?` : 'To see all runs: raymond list',
  );
}

const SHOWN = 5;

function someOf(ids: readonly string[]): string {
  const rest = ids.length - SHOWN;
  return ids.slice(0, SHOWN).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** Ids that resemble the wanted text, or begin with a similar text. */
function nearest(wanted: string, ids: readonly string[]): readonly string[] {
  const spelled = new Map(
    ids.flatMap(
      (id) =>
        [
          [id.slice(0, wanted.length), id],
          [id, id],
        ] as const,
    ),
  );
  const found = nearestFew(wanted, spelled.keys(), SHOWN).flatMap(
    (name) => spelled.get(name) ?? [],
  );
  return [...new Set(found)];
}
