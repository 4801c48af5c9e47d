import { editText } from '../terminal/edit-text.ts';
import type { LiveView } from '../terminal/live-view.ts';
import { interruptOurselves } from '../terminal/signals.ts';
import { stderr } from '../terminal/terminal.ts';
import { type AskOne, corrected } from './person-at-terminal.ts';

/** Asks a question inside of the live view, which continues below and above it. */
export function askInView(view: Pick<LiveView, 'type' | 'quoteLong'>): AskOne {
  return (asked, said) => {
    view.quoteLong(asked);
    let problem: string | undefined;
    const editor = editText({
      show: (text) => view.type({ asked, ...text, problem }),
      send(answer) {
        problem = said.answer(answer);
        return problem === undefined ? undefined : corrected(answer);
      },
      leave() {
        view.type(undefined);
        said.leave();
      },
      interrupt: interruptOurselves,
      warn: stderr.say,
    });
    return {
      close() {
        editor.close();
        view.type(undefined);
      },
    };
  };
}
