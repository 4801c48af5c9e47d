import type { Observer } from '../ports.ts';
import { harmless, usd } from './words.ts';

/** Shows in a terminal's title what a run is doing. */
export function titleBarObserver(write: (text: string) => void): Observer {
  return {
    event(event, _before, { id, tally, totalCostUsd, status }) {
      if (event.type === 'run-ended') return write('\x1b]0;\x07');
      const running = tally.promptsRunning + tally.scriptsRunning;
      const doing = status.kind === 'stopping' ? 'stopping' : `${running} running`;
      write(`\x1b]0;${harmless(id)}: ${doing}, ${usd(totalCostUsd)}\x07`);
    },
    live: () => {},
  };
}
