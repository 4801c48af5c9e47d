import type { Observer } from '../ports.ts';
import { usd } from './words.ts';

/** Shows in a terminal's title what a run is doing. */
export function titleBarObserver(show: (title: string) => void): Observer {
  return {
    event(event, _before, { id, tally, totalCostUsd, status }) {
      if (event.type === 'run-ended') return show('');
      const running = tally.promptsRunning + tally.scriptsRunning;
      const doing = status.kind === 'stopping' ? 'stopping' : `${running} running`;
      show(`${id}: ${doing}, ${usd(totalCostUsd)}`);
    },
    live: () => {},
  };
}
