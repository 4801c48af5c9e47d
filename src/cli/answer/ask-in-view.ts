import type { LiveView } from '../terminal/live-view.ts';
import { interruptOurselves } from '../terminal/signals.ts';
import { typedLine } from '../terminal/terminal.ts';
import type { AskOne } from './person-at-terminal.ts';

/** Asks a question inside of the live view, which continues below and above it. */
export function askInView(view: Pick<LiveView, 'type' | 'quoteLong'>): AskOne {
  return (asked, said) => {
    view.quoteLong(asked);
    const show = () => {
      const { line, cursor } = reader;
      view.type({ asked, before: line.slice(0, cursor), after: line.slice(cursor) });
    };
    const reader = typedLine(() => show());
    const leave = () => {
      view.type(undefined);
      said.leave();
    };
    reader.once('close', leave);
    reader.on('SIGINT', interruptOurselves);
    reader.once('line', said.answer);
    show();
    return {
      close() {
        reader.off('close', leave);
        reader.close();
        view.type(undefined);
      },
    };
  };
}
