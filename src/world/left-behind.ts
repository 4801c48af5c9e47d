import { conditionOf } from '../model/condition.ts';
import type { RunStore } from '../ports.ts';

/** Notices about runs that a crash left unfinished. */
export async function leftBehind(store: RunStore): Promise<readonly string[]> {
  const crashed = (await store.survey())
    .flatMap((found) =>
      found.kind === 'stored' && conditionOf(found).kind === 'crashed' ? [found] : [],
    )
    .toSorted((a, b) => a.run.startedAt - b.run.startedAt);
  const own = crashed.filter(({ isOwn }) => isOwn).map(({ id }) => id);
  const foreign = crashed.filter(({ isOwn }) => !isOwn).map(({ id }) => id);
  return [
    ...(own.length > 0
      ? [
          `Unfinished after a crash: ${some(own)}. To continue ${own.length === 1 ? 'it' : 'them'}: ${how(own)}`,
        ]
      : []),
    ...(foreign.length > 0
      ? [
          `Unfinished, but not started by you here: ${some(foreign)}. To check: raymond show ${foreign[0]}`,
        ]
      : []),
  ];
}

function some(ids: readonly string[]): string {
  return ids.slice(0, 3).join(', ') + (ids.length > 3 ? ` and ${ids.length - 3} more` : '');
}

function how(ids: readonly string[]): string {
  return ids.length === 1 ? `raymond resume ${ids[0]}` : 'raymond resume --all';
}
