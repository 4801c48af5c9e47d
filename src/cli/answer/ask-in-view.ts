import { reachText, say } from '../../app/say.ts';
import { messageOf } from '../../model/message-of.ts';
import { UserError } from '../../model/user-error.ts';
import type { Surroundings } from '../../world/surroundings.ts';
import { editText } from '../terminal/edit-text.ts';
import type { LiveView } from '../terminal/live-view.ts';
import { interruptOurselves } from '../terminal/signals.ts';
import { stderr } from '../terminal/terminal.ts';
import { type AskedOne, type AskOne, corrected } from './person-at-terminal.ts';

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

/** Lets the person write to an agent inside of the live view. A line says what became of it. */
export function sayInView(
  view: Pick<LiveView, 'type' | 'line'>,
  around: Surroundings,
  run: string,
  agent: string,
  over: () => void,
): AskedOne {
  const tell = (text: string, tone: 'plain' | 'warning') =>
    view.line({ at: around.clock.now(), who: agent, tone, text });
  const end = () => {
    view.type(undefined);
    over();
  };
  const editor = editText({
    show: (text) => view.type({ asked: { agent, question: '', isTold: true }, ...text }),
    send(text) {
      end();
      say(around, run, text, agent).then(
        (said) => tell(reachText(run, said), 'plain'),
        (error) => tell(troubleText(error), 'warning'),
      );
      return undefined;
    },
    leave: end,
    interrupt: interruptOurselves,
    warn: stderr.say,
  });
  return {
    close() {
      editor.close();
      view.type(undefined);
    },
  };
}

const troubleText = (error: unknown) =>
  error instanceof UserError ? `${error.message} ${error.remedy}` : messageOf(error);
