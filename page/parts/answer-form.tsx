import { useRef, useState } from 'preact/hooks';
import { MOST_FILES, sizeText } from '../../src/model/kept-file.ts';
import { visible } from '../lib/words.ts';
import { choicesIn } from '../stores/choices.ts';

interface Props {
  readonly question: string;
  /** The name of the field, for screen readers. */
  readonly label: string;
  /** The id of the question on the page. */
  readonly describedBy: string;
  readonly isSending: boolean;
  readonly onAnswer: (text: string, files: readonly File[]) => void;
  /** What the files of the answer may have together; absent if none can come with it. */
  readonly mostFileBytes?: number;
  /** The endings of the files; all may come if it is absent. */
  readonly accept?: readonly string[] | null;
}

/** A field that grows with the answer. A choice of the question fills it, so a person sees what is sent. */
export function AnswerForm(props: Props) {
  const { question, label, describedBy, isSending, onAnswer, mostFileBytes, accept } = props;
  const [files, setFiles] = useState<readonly File[]>([]);
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  // Cleaned first, so that a person sees exactly what is sent.
  const limits = `Files, at most ${MOST_FILES} with ${sizeText(mostFileBytes ?? 0)} together${accept ? `, ${accept.join(' or ')}` : ''}`;
  const choices = choicesIn(visible(question));
  const answer = () => {
    if (isSending) return;
    const wrong = mostFileBytes === undefined ? undefined : filesProblem(files, mostFileBytes);
    if (wrong !== undefined) return setProblem(wrong);
    if (text.trim() !== '' || files.length > 0) return onAnswer(text, files);
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
        {mostFileBytes !== undefined && (
          <label class="button attach" title={limits}>
            Files
            <input
              type="file"
              class="visually-hidden"
              multiple
              aria-label={limits}
              accept={accept?.map((ending) => `.${ending}`).join()}
              onChange={(event) => {
                setFiles([...(event.currentTarget.files ?? [])]);
                setProblem('');
              }}
            />
          </label>
        )}
        <button type="submit" class="button primary" disabled={isSending}>
          Answer
        </button>
      </div>
      {files.length > 0 && (
        <p class="small faint">With {files.map(({ name }) => visible(name)).join(', ')}</p>
      )}
      {problem !== '' && (
        <p class="small tone-fail" role="alert">
          <span class="told">{problem}</span>
        </p>
      )}
    </form>
  );
}

function filesProblem(files: readonly File[], most: number): string | undefined {
  if (files.length > MOST_FILES) return `Choose at most ${MOST_FILES} files.`;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return bytes > most ? `The files have ${sizeText(bytes)}, which is too much.` : undefined;
}

const MOST_ROWS = 12;
