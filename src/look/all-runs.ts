import type { RunStore, SurveyedRun } from '../ports.ts';

/** All runs, the oldest first. Runs that cannot be read come before all others. */
export async function allRuns(store: RunStore): Promise<readonly SurveyedRun[]> {
  const startedAt = (one: SurveyedRun) => (one.kind === 'stored' ? one.run.startedAt : 0);
  return (await store.survey()).toSorted((a, b) => startedAt(a) - startedAt(b));
}
