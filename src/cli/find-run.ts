import { checkRunId, isRunId } from '../journal/run-id.ts';
import { UserError } from '../model/user-error.ts';
import { nearestFew } from '../parse/nearest.ts';

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

function noSuchRun(wanted: string, ids: readonly string[]): UserError {
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
