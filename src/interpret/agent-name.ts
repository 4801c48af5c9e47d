import type { Run } from '../model/run.ts';

export interface ChildName {
  readonly id: string;
  readonly counter: number;
}

/**
 * Names the children of one move: `{parent}_{abbreviation}{counter}`. Each parent has its own
 * counter, which never decreases. Different parents and targets can still give the same name. So a
 * name that any agent has, or had, advances the counter.
 */
export function childNames(
  run: Run,
  parent: string,
  targets: readonly string[],
): readonly ChildName[] {
  let counter = run.forkCounters.get(parent) ?? 0;
  const given = new Set<string>();
  const isTaken = (id: string) => run.agents.has(id) || run.endedAgents.has(id) || given.has(id);
  return targets.map((target) => {
    const stem = `${parent}_${abbreviation(target)}`;
    do counter++;
    while (isTaken(`${stem}${counter}`));
    const id = `${stem}${counter}`;
    given.add(id);
    return { id, counter };
  });
}

/** The result is safe in a file name. */
function abbreviation(target: string): string {
  const name = target.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  const bare = name.replace(/\.[A-Za-z0-9]+$/, '').toLowerCase();
  const letters = Array.from(bare.replace(/[^\p{L}\p{N}_-]/gu, ''));
  return letters.slice(0, 6).join('') || 'agent';
}
