import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { shellWord } from '../../src/model/shell-word.ts';
import type { QuestionShape } from '../../src/serve/shapes/questions.ts';
import type { Answered, KeptFileReply } from '../../src/serve/shapes/requests.ts';
import { upload } from '../lib/api.ts';
import { counted, lastName, oneLine, visible } from '../lib/words.ts';
import { AnswerForm } from './answer-form.tsx';
import { Icon } from './icons.tsx';
import { Markdown } from './markdown.tsx';
import { QuestionFiles } from './question-files.tsx';
import { useSending } from './send.ts';
import { act, addDone, addTrouble, useTools, WITHOUT_PROCESS } from './tools.ts';
import { WaitingRun } from './waiting-run.tsx';

export type Asked = Pick<
  QuestionShape,
  | 'run'
  | 'workflow'
  | 'agent'
  | 'state'
  | 'question'
  | 'asked_at'
  | 'deadline'
  | 'approval'
  | 'files'
  | 'accept'
  | 'most_file_bytes'
  | 'answered'
  | 'pid'
>;

interface Props {
  readonly question: Asked;
  /** Shows the agent. */
  readonly onChoose: () => void;
  /** Leads to the other questions. */
  readonly pager?: ComponentChildren;
  /** The page of the run shows it. */
  readonly isAtRun?: boolean;
}

/** The frame and the heading are of Raymond. The words of the agent are inside a box of their own. */
export function QuestionCard({ question, onChoose, pager, isAtRun = false }: Props) {
  const tools = useTools();
  const { run, agent } = question;
  const { isSending, send } = useSending((trouble) => addTrouble(tools, trouble, run));
  const [isSent, setSent] = useState(false);
  const id = useId();
  const isAnswered = isSent || question.answered;
  const answer = (text: string, files: readonly File[]) =>
    send(async () => {
      const stored = await Promise.all(files.map((file) => storedFor(run, file)));
      const sent = stored.length > 0 ? { files: stored } : {};
      const { delivered } = await act<Answered>(tools, run, '/answer', { agent, text, ...sent });
      setSent(true);
      const done = `The answer for ${visible(agent)} is stored.`;
      addDone(tools, run, done, delivered ? '' : WITHOUT_PROCESS);
    });
  return (
    <section class="card ask tone-wait" aria-labelledby={`${id}h`}>
      <header>
        <Icon name="chat" />
        <h2 id={`${id}h`} class="clip grow">
          <button type="button" class="link" onClick={onChoose}>
            {visible(agent)}
          </button>{' '}
          asks{' '}
          <span class="faint">
            in {visible(question.state)} of {lastName(question.workflow)}
          </span>
        </h2>
        {pager}
      </header>
      <WaitingRun
        run={run}
        askedAt={question.asked_at}
        deadline={question.deadline}
        isAtRun={isAtRun}
      />
      <blockquote class="words" id={`${id}q`}>
        <Markdown text={question.question} />
      </blockquote>
      <QuestionFiles run={run} files={question.files} />
      {isAnswered ? (
        <p class="faint small" role="status">
          {question.pid === null
            ? 'Answered. The agent gets the answer when the run is resumed.'
            : 'Answered. The agent continues.'}
        </p>
      ) : question.approval ? (
        <Signatures approval={question.approval} run={run} agent={agent} />
      ) : (
        <AnswerForm
          question={question.question}
          label={`Your answer to ${visible(agent)}`}
          describedBy={`${id}q`}
          mostFileBytes={question.most_file_bytes}
          accept={question.accept}
          isSending={isSending}
          onAnswer={answer}
        />
      )}
    </section>
  );
}

/** Stores a file before the answer names it. */
async function storedFor(run: string, file: File) {
  const { sha256 } = await upload<KeptFileReply>(
    `/api/runs/${encodeURIComponent(run)}/files`,
    file,
  );
  return { name: file.name, sha256 };
}

interface SignaturesProps {
  readonly approval: NonNullable<Asked['approval']>;
  readonly run: string;
  readonly agent: string;
}

/** The page has no keys of people, so it says who has signed and how others do. */
function Signatures({ approval: { of, to, signed }, run, agent }: SignaturesProps) {
  return (
    <div class="small" role="status">
      <p>
        It needs {counted(of, 'signature')} of {visible(to)} for the same answer.
        {signed.length === 0 && ' Nobody has signed yet.'}
      </p>
      {signed.length > 0 && (
        <ul>
          {signed.map(({ by, answer }) => (
            <li key={by}>
              {visible(by)} has signed: {oneLine(answer)}
            </li>
          ))}
        </ul>
      )}
      <p class="faint">
        To sign:{' '}
        <code>
          raymond answer {shellWord(run)} --agent {shellWord(agent)} "..." --sign KEY
        </code>
      </p>
    </div>
  );
}
