import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { QuestionShape } from '../../src/serve/shapes/questions.ts';
import type { Answered } from '../../src/serve/shapes/requests.ts';
import { useNow } from '../lib/hooks.ts';
import { ago, elapsed, lastName, msOf, visible } from '../lib/words.ts';
import { Icon } from './icons.tsx';
import { useSending } from './send.ts';
import { act, addDone, addTrouble, useTools, WITHOUT_PROCESS } from './tools.ts';

export type Asked = Pick<
  QuestionShape,
  'run' | 'workflow' | 'agent' | 'state' | 'question' | 'asked_at' | 'deadline' | 'answered' | 'pid'
>;

interface Props {
  readonly question: Asked;
  /** Shows the agent. */
  readonly onChoose: () => void;
  /** Leads to the other questions. */
  readonly pager?: ComponentChildren;
}

/** The frame and the heading are of Raymond. The words of the agent are inside a box of their own. */
export function QuestionCard({ question, onChoose, pager }: Props) {
  const tools = useTools();
  const [text, setText] = useState('');
  const { isSending, send } = useSending((trouble) => addTrouble(tools, trouble));
  const [isSent, setSent] = useState(false);
  const id = useId();
  const now = useNow(question.deadline === null ? 20_000 : 1_000);
  const isAnswered = isSent || question.answered;
  const answer = () =>
    send(async () => {
      const { run, agent } = question;
      const { delivered } = await act<Answered>(tools, run, '/answer', { agent, text });
      setSent(true);
      const done = `The answer for ${visible(agent)} is stored.`;
      addDone(tools, done, delivered ? '' : WITHOUT_PROCESS);
    });
  return (
    <section class="card ask tone-wait" aria-labelledby={`${id}h`}>
      <header>
        <Icon name="chat" />
        <h2 id={`${id}h`} class="clip grow">
          <button type="button" class="link" onClick={onChoose}>
            {visible(question.agent)}
          </button>{' '}
          asks{' '}
          <span class="faint">
            in {visible(question.state)} of {lastName(question.workflow)}
          </span>
        </h2>
        <span class="faint small">
          {question.deadline === null
            ? ago(question.asked_at, now)
            : `${elapsed(msOf(question.deadline) - now)} left`}
        </span>
        {pager}
      </header>
      <blockquote class="words" id={`${id}q`}>
        {visible(question.question)}
      </blockquote>
      {isAnswered ? (
        <p class="faint small" role="status">
          {question.pid === null
            ? 'Answered. The agent gets the answer when the run is resumed.'
            : 'Answered. The agent continues.'}
        </p>
      ) : (
        <form
          class="answer"
          onSubmit={(event) => {
            event.preventDefault();
            void answer();
          }}
        >
          <textarea
            class="input"
            rows={1}
            value={text}
            placeholder="Your answer"
            aria-label={`Your answer to ${visible(question.agent)}`}
            aria-describedby={`${id}q`}
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
              event.preventDefault();
              if (!isSending) void answer();
            }}
          />
          <button type="submit" class="button primary" disabled={isSending}>
            Answer
          </button>
        </form>
      )}
    </section>
  );
}
