import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { PermissionShape } from '../../src/look/run-shape.ts';
import type { Answered, Decided } from '../../src/serve/shapes/requests.ts';
import { toolView } from '../../src/view/tool-view.ts';
import { counted, oneLine, visible } from '../lib/words.ts';
import { AnswerForm } from './answer-form.tsx';
import { Icon } from './icons.tsx';
import { Markdown } from './markdown.tsx';
import { useSending } from './send.ts';
import { ToolInput } from './tool-input.tsx';
import { act, addDone, addTrouble, useTools, WITHOUT_PROCESS } from './tools.ts';
import { WaitingRun } from './waiting-run.tsx';

export interface Permission extends PermissionShape {
  readonly run: string;
  readonly agent: string;
  readonly state: string;
}

type Decision = 'allow' | 'allow-run' | 'deny' | 'answer';

interface Props {
  readonly permission: Permission;
  readonly onChoose: () => void;
  /** Leads to the other requests. */
  readonly pager?: ComponentChildren;
  /** The page of the run shows it. */
  readonly isAtRun?: boolean;
}

const SAID: Readonly<Record<Decision, string>> = {
  allow: 'Allowed once.',
  'allow-run': 'Allowed for the run.',
  answer: 'Answered.',
  deny: 'Denied.',
};

/** The frame is of Raymond. What the agent wants to do is inside a box of its own. */
export function PermissionCard({ permission, onChoose, pager, isAtRun = false }: Props) {
  const tools = useTools();
  const { run, agent, state, request, tool, summary, input, rules, question } = permission;
  const omitted = (permission.input_length ?? input.length) - input.length;
  const [word, setWord] = useState('');
  const { isSending, send } = useSending((trouble) => addTrouble(tools, trouble, run));
  const [decided, setDecided] = useState<Decision>();
  const id = useId();
  const decide = async (decision: Decision, text = '') => {
    const message = decision === 'deny' && word !== '' ? { message: word } : {};
    const told = { agent, request, decision, ...message };
    const { delivered } =
      decision === 'answer'
        ? await act<Answered>(tools, run, '/answer', { agent, text })
        : await act<Decided>(tools, run, '/permission', told);
    setDecided(decision);
    const done = `${SAID[decision]} The decision for ${visible(agent)} is stored.`;
    addDone(tools, run, done, delivered ? '' : WITHOUT_PROCESS);
  };
  const button = (decision: Decision, text: string, look: string, title?: string) => (
    <button
      type="button"
      class={`button ${look}`}
      disabled={isSending}
      title={title}
      onClick={() => send(() => decide(decision))}
    >
      {text}
    </button>
  );
  return (
    <section class="card permission tone-wait" aria-labelledby={id}>
      <header>
        <Icon name="shield" />
        <h2 id={id} class="clip grow">
          <button type="button" class="link" onClick={onChoose}>
            {visible(agent)}
          </button>{' '}
          {question ? 'asks' : `wants to use ${oneLine(tool, 60)}`}{' '}
          <span class="faint">in {visible(state)}</span>
        </h2>
        {pager}
      </header>
      <WaitingRun run={run} askedAt={permission.asked_at} deadline={null} isAtRun={isAtRun} />
      {question ? (
        <blockquote class="words" id={`${id}q`}>
          <Markdown text={input} />
        </blockquote>
      ) : (
        <>
          {/* A command or a change has its summary in it. */}
          {summary !== '' && toolView(input).kind === 'input' && (
            <p class="small faint anywhere">{oneLine(summary, 300)}</p>
          )}
          <ToolInput input={input} />
        </>
      )}
      {omitted > 0 && <p class="faint small">{counted(omitted, 'more character')}</p>}
      {decided || permission.answered ? (
        <p class="faint small" role="status">
          {decided ? SAID[decided] : 'A decision is stored.'}
        </p>
      ) : question ? (
        <>
          <AnswerForm
            question={input}
            label={`Your answer to ${visible(agent)}`}
            describedBy={`${id}q`}
            isSending={isSending}
            onAnswer={(text) => send(() => decide('answer', text))}
          />
          <div class="choices">{button('deny', 'Do not answer', 'quiet')}</div>
        </>
      ) : (
        <div class="choices">
          {button('allow', 'Allow', 'primary')}
          {rules !== null &&
            button(
              'allow-run',
              'Allow for the run',
              '',
              `For all agents of this run: ${oneLine(rules.join(', '))}`,
            )}
          <div class="with-word">
            <input
              class="input"
              value={word}
              placeholder="A word for the agent, if you deny"
              aria-label={`A word for ${visible(agent)}, if you deny`}
              onInput={(event) => setWord(event.currentTarget.value)}
            />
            {button('deny', 'Deny', 'danger')}
          </div>
        </div>
      )}
    </section>
  );
}
