import { type Remainder, remainderOf } from '../forecast/forecast.ts';
import type { PlaceReader } from '../forecast/places.ts';
import type { Run } from '../model/run.ts';
import type { RunStore } from '../ports.ts';
import { pastRuns } from './past-runs.ts';

/** The cost and time that a run still needs. `places` has read its events. */
export async function runForecast(
  store: RunStore,
  run: Run,
  places: PlaceReader,
): Promise<Remainder> {
  const pasts = await pastRuns(store, run.workflow, run.workflowFiles.get(run.workflow));
  return remainderOf(run, places.standing(run), pasts);
}
