import { useState } from 'preact/hooks';
import type { SaidReply } from '../../src/serve/shapes/requests.ts';
import { visible } from '../lib/words.ts';
import { useSending } from './send.ts';
import { act, addDone, addTrouble, useTools, WITHOUT_PROCESS } from './tools.ts';

interface Props {
  readonly run: string;
  readonly agent: string;
}

/** A field for words to an agent that works. A notice says what becomes of them. */
export function SayForm({ run, agent }: Props) {
  const tools = useTools();
  const { isSending, send } = useSending((trouble) => addTrouble(tools, trouble, run));
  const [text, setText] = useState('');
  const say = () =>
    send(async () => {
      const { reach } = await act<SaidReply>(tools, run, '/say', { agent, text });
      setText('');
      addDone(
        tools,
        run,
        `${visible(agent)} ${REACH[reach]}`,
        reach === 'saved' ? WITHOUT_PROCESS : '',
      );
    });
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSending && text.trim() !== '') void say();
      }}
    >
      <div class="with-word">
        <textarea
          class="input"
          rows={Math.min(MOST_ROWS, text.split('\n').length)}
          value={text}
          placeholder="Say something to the agent"
          aria-label={`Say something to ${agent}`}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button" disabled={isSending || text.trim() === ''}>
          Say
        </button>
      </div>
    </form>
  );
}

const MOST_ROWS = 12;

const REACH: Readonly<Record<SaidReply['reach'], string>> = {
  heard: 'has it, in its running turn.',
  turn: 'gets it after its tool call, or before its next prompt.',
  prompt: 'gets it before its next prompt.',
  saved: 'gets it when the run continues.',
};
