import { type RewoundRun, rewindRun } from '../host/rewind-run.ts';
import type { RewindPlan } from '../interpret/plan-rewind.ts';
import { counted } from '../model/counted.ts';
import type { Door } from '../model/notice.ts';
import type { RewindRequest } from '../model/rewind-request.ts';
import { UserError } from '../model/user-error.ts';
import { usd } from '../observe/words.ts';
import { wrongUsage } from '../options/wrong-usage.ts';
import type { Surroundings } from '../world/surroundings.ts';
import { rewindPorts } from '../world/wire.ts';
import { type OwnChanges, ownChanges } from './own-changes.ts';
import { refuseInside } from './refuse-inside.ts';
import { consented } from './started-run.ts';

export interface RewindOptions {
  readonly files: boolean;
  /** The consent of the user. */
  readonly agreed: boolean;
}

/** Takes a run back to the moment before a step, or takes the last rewind back. */
export async function rewind(
  around: Surroundings,
  id: string,
  request: RewindRequest,
  { files, agreed }: RewindOptions,
  door: Door,
): Promise<RewoundRun> {
  await refuseInside(around, id, 'rewind it');
  return rewindRun(await rewindPorts(around, id), id, request, {
    files,
    agree: async (plan) => {
      const own = files ? await ownChanges(around, id, plan) : [];
      const facts = [...planLines(id, plan, files), ...own.flatMap(ownLines)];
      const isAgreed = await consented(door, { kind: 'rewind', facts }, agreed);
      if (isAgreed === undefined)
        throw wrongUsage('Raymond cannot ask here whether to rewind.', 'To rewind, add --yes.');
      if (!isAgreed)
        throw new UserError('not-agreed', 'Nothing has changed.', 'To rewind, answer yes.');
    },
  });
}

function planLines(
  id: string,
  { event, back, files, withoutFiles }: RewindPlan,
  isWithFiles: boolean,
) {
  const { to, gone, abandoned, costUsd, isPriced } = event;
  const steps = abandoned.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  const others = back.filter(({ agent }) => agent !== to?.agent);
  const roots = files.map(({ root }) => root);
  return [
    to
      ? `${id} goes back to the moment before ${to.agent}:${to.step}.`
      : `The last rewind of ${id} is undone.`,
    ...(to && others.length > 0
      ? [
          `  ${names(others.map(({ agent }) => agent))} shared its files or its results, and goes back with it.`,
        ]
      : []),
    ...(gone.length > 0 ? [`  Gone: ${names(gone)}, forked after that moment.`] : []),
    ...(steps > 0
      ? [
          `  Abandoned: ${counted(steps, 'step')}, ${usd(costUsd, isPriced)}. They stay readable, and the money stays spent.`,
        ]
      : []),
    ...(isWithFiles && roots.length > 0
      ? [
          `  Files of ${names(roots)} return to that moment. Files that git ignores, branches and commits stay.`,
        ]
      : []),
    ...(isWithFiles && withoutFiles.length > 0
      ? [`  Files of ${names(withoutFiles)} are left alone, because it is in no git repository.`]
      : []),
    ...(isWithFiles ? [] : ['  Files are left alone.']),
  ];
}

function ownLines({ root, paths, problem }: OwnChanges): readonly string[] {
  if (problem !== undefined)
    return [`  Your own changes in ${root} cannot be listed: ${problem}. They return as well.`];
  return [
    `  ${counted(paths.length, 'file')} of ${root} changed after the last record of the run, by you or by a script.`,
    '  Raymond sets them aside. rewind --undo brings them back:',
    ...paths.slice(0, MOST_PATHS).map((path) => `    ${path}`),
    ...(paths.length > MOST_PATHS ? [`    and ${paths.length - MOST_PATHS} more`] : []),
  ];
}

const MOST_PATHS = 50;

function names(all: readonly string[]): string {
  const shown = all.slice(0, MOST_NAMES).join(', ');
  return all.length > MOST_NAMES ? `${shown} and ${all.length - MOST_NAMES} more` : shown;
}

const MOST_NAMES = 10;
