/** The usual cost and time, in words. */
import type { Forecast } from '../../src/forecast/forecast.ts';
import type { RunForecast } from '../../src/serve/shapes/forecast.ts';
import { counted, duration, usd } from '../lib/words.ts';

type Usual = NonNullable<Forecast['run']>;
export type UsualState = Forecast['states'][number];

/** `$0.42, 3 min`. Work without a cost has only its time. */
export function usualText({ cost_usd, cost_is_estimate, time_ms }: Usual): string {
  const time = duration(time_ms.median);
  return cost_usd.median > 0 ? `${usd(cost_usd.median, cost_is_estimate)}, ${time}` : time;
}

/** The range in which half of the runs are. */
export function rangeText({ cost_usd, cost_is_estimate, time_ms }: Usual, runs: number): string {
  const cost =
    cost_usd.high > 0
      ? [`${usd(cost_usd.low, cost_is_estimate)} to ${usd(cost_usd.high, cost_is_estimate)}`]
      : [];
  const time = `${duration(time_ms.low)} to ${duration(time_ms.high)}`;
  return `Half of ${counted(runs, 'completed run')} used ${[...cost, time].join(' and ')}.`;
}

/** The cost and time that a run still needs; undefined if that is not known. */
export function restText(rest: RunForecast['rest']): string | undefined {
  return rest?.kind === 'known' ? usualText(rest) : undefined;
}

/** The basis of the figures, or the reason why there are none. */
export function basisText({ runs, needed, run }: Forecast): string {
  if (run)
    return `Usual figures are the middle of ${counted(runs, 'completed run')} with the same files.`;
  const have = runs === 0 ? 'there is none yet' : `there ${runs === 1 ? 'is' : 'are'} ${runs}`;
  return `A forecast needs ${needed} completed runs of this workflow with the same files: ${have}.`;
}

/** The usual figures of a state of the run's own workflow. */
export function usualOf(forecast: Forecast | undefined, state: string): UsualState | undefined {
  if (!forecast?.run) return undefined;
  return forecast.states.find(({ node }) => node === `state:${state}`);
}
