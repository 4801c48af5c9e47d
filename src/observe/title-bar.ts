import type { Observer } from '../ports.ts';
import { usd } from './words.ts';

/** Shows the status of a run in the title of the terminal. */
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
