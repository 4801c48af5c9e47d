import { useRef, useState } from 'preact/hooks';
import { visible } from '../lib/words.ts';
import { choicesIn } from '../stores/choices.ts';

interface Props {
  readonly question: string;
  /** The name of the field, for screen readers. */
  readonly label: string;
  /** The id of the question on the page. */
  readonly describedBy: string;
  readonly isSending: boolean;
  readonly onAnswer: (text: string) => void;
}

/** A field that grows with the answer. A choice of the question fills it, so a person sees what is sent. */
export function AnswerForm({ question, label, describedBy, isSending, onAnswer }: Props) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  // Cleaned first, so that a person sees exactly what is sent.
  const choices = choicesIn(visible(question));
  const answer = () => {
    if (isSending) return;
    if (text.trim() !== '') return onAnswer(text);
    setProblem('Write an answer first.');
    field.current?.focus();
  };
  return (
    <form
      class="answer"
      onSubmit={(event) => {
        event.preventDefault();
        answer();
      }}
    >
      {choices.length > 0 && (
        <fieldset class="answers" aria-label="Choices of the question">
          {choices.map((choice) => (
            <button
              key={choice}
              type="button"
              class="button choice"
              aria-pressed={text === choice}
              onClick={() => {
                setText(choice);
                setProblem('');
                field.current?.focus({ preventScroll: true });
              }}
            >
              {choice}
            </button>
          ))}
        </fieldset>
      )}
      <div class="with-word">
        <textarea
          class="input"
          ref={field}
          rows={Math.min(MOST_ROWS, text.split('\n').length)}
          value={text}
          placeholder={choices.length > 0 ? 'Choose, or write your own answer' : 'Your answer'}
          aria-label={label}
          aria-describedby={describedBy}
          aria-invalid={problem !== ''}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setProblem('');
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            answer();
          }}
        />
        <button type="submit" class="button primary" disabled={isSending}>
          Answer
        </button>
      </div>
      {problem !== '' && (
        <p class="small tone-fail" role="alert">
          <span class="told">{problem}</span>
        </p>
      )}
    </form>
  );
}

const MOST_ROWS = 12;
