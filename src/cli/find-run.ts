import { checkRunId, isRunId } from '../journal/run-id.ts';
import { UserError } from '../model/user-error.ts';
import { nearestFew } from '../parse/nearest.ts';

/** The id that is meant: as it is, or shortened as long as only one run begins like that. */
export function findRun(ids: readonly string[], text: string): string {
  const wanted = checkRunId(text);
  if (ids.includes(wanted)) return wanted;
  const [only, ...others] = ids.filter((id) => id.startsWith(wanted));
  if (only === undefined) throw noSuchRun(wanted, ids);
  if (others.length > 0) throw ambiguous(wanted, [only, ...others]);
  return only;
}

/** Whether a word is, begins or nearly is the id of a run. */
export function meansRun(ids: readonly string[], word: string): boolean {
  const wanted = word.normalize('NFC');
  if (!isRunId(wanted)) return false;
  if (ids.some((id) => id.startsWith(wanted))) return true;
  return wanted.length >= TELLING && nearest(wanted, ids).length > 0;
}

/** Shorter words resemble too much. */
const TELLING = 5;

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
