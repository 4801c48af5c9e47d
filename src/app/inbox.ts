import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenItem } from '../host/questions.ts';
import { type Notice, warnings } from '../model/notice.ts';
import { shellWord } from '../model/shell-word.ts';
import { UserError } from '../model/user-error.ts';
import { shortRequest } from '../observe/words.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { type WaitingRun, waitingRuns } from './open-items.ts';

/** Something that waits for the person. */
export interface InboxItem {
  /** The directory of the project; undefined for a run in a database. */
  readonly project: string | undefined;
  readonly run: string;
  readonly workflow: string;
  readonly item: OpenItem;
  /** Answers it, from the directory of the caller. */
  readonly command: string;
}

export interface Inbox {
  /** The oldest first. */
  readonly items: readonly InboxItem[];
  /** The projects that cannot be read. */
  readonly notices: readonly Notice[];
}

/** What waits for the person in all projects and in their databases. Only the user's own runs count. */
export async function inbox(around: Surroundings): Promise<Inbox> {
  const items: InboxItem[] = [];
  const problems = await inEveryPlace(around, async ({ place, project, flag }) => {
    for (const run of await waitingRuns(place.store))
      for (const item of run.items)
        items.push({
          ...{ project, run: run.id, workflow: run.run.workflow, item },
          command: commandFor(around, project, run, item, flag),
        });
  });
  return {
    items: items.toSorted((a, b) => a.item.askedAt - b.item.askedAt),
    notices: warnings(problems),
  };
}

interface Place {
  /** Open only during the visit. */
  readonly place: Surroundings;
  /** The directory of the project; undefined for a database. */
  readonly project: string | undefined;
  /** What a command in that project needs besides. */
  readonly flag: string;
}

/** Visits all projects of the user and their databases, each once. Returns sentences about those that cannot be read. */
export async function inEveryPlace(
  around: Surroundings,
  visit: (place: Place) => Promise<void>,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const databases = new Set<string | undefined>([undefined]);
  const database = async (place: Surroundings) => {
    if (databases.has(place.databaseUrl)) return;
    databases.add(place.databaseUrl);
    await visit({ place, project: undefined, flag: '' });
  };
  const attempt = async (name: string, act: () => Promise<void>) => {
    await act().catch((error) => {
      if (!(error instanceof UserError)) throw error;
      problems.push(`${name}: ${error.message}`);
    });
  };
  await database(around);
  for (const directory of await knownProjects(around))
    await attempt(directory, async () => {
      const place = await around.inProject(directory);
      const flag = usesDatabase(place) ? ' --database none' : '';
      const files = await place.inProject(place.cwd, 'none');
      await visit({ place: files, project: directory, flag });
      await attempt(`The database of ${directory}`, () => database(place)).finally(() =>
        place.world.close(),
      );
    });
  return problems;
}

/** The directories of all projects in which the user has runs in files, and of this one. */
export async function knownProjects(around: Surroundings): Promise<readonly string[]> {
  const own = around.databaseUrl === undefined ? [join(around.project.folder, '..')] : [];
  const known = new Set([...own, ...(await around.projects())]);
  // Projects that were removed are left out.
  return [...known].filter((directory) => existsSync(join(directory, '.raymond')));
}

const usesDatabase = ({ databaseUrl }: Surroundings) => databaseUrl !== undefined;

function commandFor(
  around: Surroundings,
  project: string | undefined,
  { id, items }: WaitingRun,
  item: OpenItem,
  flag: string,
): string {
  const isHere = project === undefined || project === join(around.project.folder, '..');
  const place = isHere ? '' : `cd ${shellWord(project)} && `;
  const one = items.length === 1 ? '' : ` ${nameOf(item)}`;
  return `${place}raymond answer ${shellWord(id)}${one}${flag}`;
}

const nameOf = (item: OpenItem) =>
  item.kind === 'request'
    ? `--request ${shellWord(shortRequest(item.request))}`
    : `--agent ${shellWord(item.agent)}`;
