/** What the keys of the user do to the view. */
import type { Key } from './keys.ts';
import type { Panel } from './panels.ts';

export interface Controls {
  /** The agent that the user has chosen. */
  readonly chosen?: string | undefined;
  readonly panel?: Panel | undefined;
}

export const NO_CONTROLS: Controls = {};

/** What a key asks for, besides a change of the view. */
export type Act =
  | 'open'
  | 'answer'
  | 'say'
  | 'drain'
  | 'now'
  | 'leave'
  | 'interrupt'
  | 'suspend'
  | 'quit'
  | 'redraw';

export interface Pressing {
  /** The agents in the order of their rows. */
  readonly order: readonly string[];
  /** The user may leave, because the run does not depend on this process. */
  readonly mayLeave: boolean;
  readonly mayStop: boolean;
  /** A question waits for the user. */
  readonly hasQuestion: boolean;
}

export interface Pressed {
  readonly controls: Controls;
  readonly act?: Act;
}

export function pressed(controls: Controls, key: Key, pressing: Pressing): Pressed {
  if (typeof key === 'object') return letter(controls, key.letter, pressing);
  const { chosen, panel } = controls;
  const choose = (step: number): Pressed => ({
    controls: { chosen: moved(chosen, step, pressing) },
  });
  switch (key) {
    case 'up':
      return choose(-1);
    case 'down':
      return choose(1);
    case 'page-up':
      return choose(-PAGE);
    case 'page-down':
      return choose(PAGE);
    case 'home':
      return choose(-pressing.order.length);
    case 'end':
      return choose(pressing.order.length);
    case 'enter':
      if (panel === 'stop') return { controls };
      return chosen === undefined ? choose(1) : { controls: { chosen }, act: 'open' };
    case 'escape':
      return { controls: panel ? { chosen } : NO_CONTROLS };
    case 'left':
    case 'right':
      return { controls };
    case 'ctrl-c':
      return { controls, act: 'interrupt' };
    case 'ctrl-z':
      return { controls, act: 'suspend' };
    case 'ctrl-backslash':
      return { controls, act: 'quit' };
    case 'ctrl-l':
      return { controls, act: 'redraw' };
  }
}

const PAGE = 10;

/** The first arrow chooses the first agent, whose row needs attention most. */
function moved(chosen: string | undefined, step: number, { order }: Pressing): string | undefined {
  const place = chosen === undefined ? -1 : order.indexOf(chosen);
  if (place < 0) return step < 0 ? order.at(-1) : order[0];
  return order[Math.min(order.length - 1, Math.max(0, place + step))];
}

function letter(controls: Controls, key: string, pressing: Pressing): Pressed {
  const { chosen, panel } = controls;
  if (panel === 'stop') {
    if (key === 'y') return { controls: { chosen }, act: 'drain' };
    if (key === 'k') return { controls: { chosen }, act: 'now' };
    return { controls: key === 'n' ? { chosen } : controls };
  }
  switch (key) {
    case '?':
      return { controls: { chosen, panel: panel ? undefined : 'keys' } };
    case 's':
      return pressing.mayStop ? { controls: { chosen, panel: 'stop' } } : { controls };
    case 'a':
      return pressing.hasQuestion ? { controls: NO_CONTROLS, act: 'answer' } : { controls };
    case 'w': {
      if (!pressing.mayStop) return { controls };
      // With several agents, the user sees first to whom the words go.
      const [first, ...others] = pressing.order;
      if (chosen === undefined && others.length > 0) return { controls: { chosen: first } };
      return { controls: { chosen: chosen ?? first }, act: 'say' };
    }
    case 'q':
      return pressing.mayLeave ? { controls, act: 'leave' } : { controls };
    default:
      return { controls };
  }
}
