/** What two runs have in common, and what not. */
import type { Diff } from '../../src/look/diff-shape.ts';
import type { WholeRun } from '../../src/look/run-shape.ts';
import type { StepRow } from '../../src/look/step-list.ts';
import type { VariantShape } from '../../src/look/variant-shape.ts';

export type Both<T> = readonly [first: T, second: T];

export interface BothState {
  readonly state: string;
  readonly visits: Both<number>;
  readonly time: Both<number>;
  readonly cost: Both<number>;
}

/** The states that at least one of them has visited, in the order of the first visits. */
export function bothStates(runs: Both<Pick<WholeRun, 'states'>>): readonly BothState[] {
  const names = new Set(runs.flatMap(({ states }) => states.map(({ state }) => state)));
  return [...names].map((state) => {
    const sum = (of: 'visits' | 'worked_ms' | 'cost_usd'): Both<number> => {
      const one = (at: 0 | 1) =>
        runs[at].states.reduce((all, use) => all + (use.state === state ? use[of] : 0), 0);
      return [one(0), one(1)];
    };
    return { state, visits: sum('visits'), time: sum('worked_ms'), cost: sum('cost_usd') };
  });
}

/** One line for each state that an agent went through. Reminders and checks are part of a state. */
export function pathOf(steps: readonly StepRow[]): string {
  return steps
    .filter(({ task, abandoned }) => task === 'state' && !abandoned)
    .map(({ state, status }) => (status === 'ended' ? state : `${state} (${status})`))
    .join('\n');
}

/** What a variant changes, in a line. */
export function changesOf({ changes, number }: Pick<VariantShape, 'changes' | 'number'>): string {
  const all = Object.entries(changes).map(([name, value]) => `${name} ${value}`);
  return [...all, ...(number > 1 || all.length === 0 ? [`repetition ${number}`] : [])].join(', ');
}

export const pathText = (path: readonly string[]) => path.join(' › ');

export interface BothFile {
  readonly path: string;
  readonly where: 'first' | 'second' | 'same' | 'differs';
}

export function changedIn(diffs: Both<Pick<Diff, 'folders'>>): readonly BothFile[] {
  const [a, b] = diffs.map(
    ({ folders }) =>
      new Map(
        folders.flatMap(({ files }) => files.map((file) => [file.path, file.patch] as const)),
      ),
  );
  const paths = [...new Set([...(a?.keys() ?? []), ...(b?.keys() ?? [])])].sort();
  return paths.map((path) => {
    if (!b?.has(path)) return { path, where: 'first' };
    if (!a?.has(path)) return { path, where: 'second' };
    return { path, where: a.get(path) === b.get(path) ? 'same' : 'differs' };
  });
}
