import { doingByAgent } from '../model/now.ts';
import { DoingNow } from '../observe/doing-now.ts';
import type { RunOptions } from '../options/run-options.ts';
import type { Clock } from '../ports.ts';
import { type LiveView, liveView } from './live-view.ts';
import { stderr } from './terminal.ts';

/** The live view of a run of this process, if the terminal and the options allow it. */
export function runView(options: RunOptions, clock: Clock, pace: Clock): LiveView | undefined {
  if (options.plain || options.json || options.quiet || !stderr.canRedraw()) return undefined;
  const now = new DoingNow();
  const doing = () => doingByAgent(now.snapshot(clock.now()));
  const view = liveView({ screen: stderr, pace, clock, doing });
  return {
    ...view,
    event(event, before, after) {
      now.event(event);
      view.event(event, before, after);
    },
    live(step, live) {
      if (now.live(step, live, clock.now())) view.change();
    },
  };
}
