import { type Remainder, remainderOf } from '../forecast/forecast.ts';
import type { PlaceReader } from '../forecast/places.ts';
import type { Run } from '../model/run.ts';
import type { RunStore } from '../ports.ts';
import { pastsOf } from './past-runs.ts';

/** The cost and time that a run still needs. `places` has read its events. */
export async function runForecast(
  store: RunStore,
  run: Run,
  places: PlaceReader,
): Promise<Remainder> {
  return remainderOf(run, places.standing(run), await pastsOf(store, run));
}
