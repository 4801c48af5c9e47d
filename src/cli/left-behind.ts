import type { Project } from '../journal/project.ts';
import { allRuns, condition } from './runs.ts';

/** What a new start should know of runs that a crash left behind. */
export async function leftBehind(project: Project): Promise<readonly string[]> {
  const crashed = (await allRuns(project)).filter(
    (found) => 'run' in found && condition(found) === 'crashed',
  );
  if (crashed.length === 0) return [];
  const ids = crashed.map(({ id }) => id);
  const shown = ids.slice(0, 3).join(', ') + (ids.length > 3 ? ` and ${ids.length - 3} more` : '');
  const how = ids.length === 1 ? `raymond resume ${ids[0]}` : 'raymond resume --all';
  return [
    `Left behind by a crash: ${shown}. To continue ${ids.length === 1 ? 'it' : 'them'}: ${how}`,
  ];
}
