import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useMarkdown } from '../lib/use-markdown.ts';
import { counted, oneLine, visible } from '../lib/words.ts';
import { type Item, itemsOf } from '../stores/conversation.ts';
import type { WatchedStep } from '../stores/step-watch.ts';
import { Icon } from './icons.tsx';
import { ToolInput } from './tool-input.tsx';

/** What happens in a step that is not over. */
export type StepNow = 'works' | 'waits' | 'rests';

const NOW: Readonly<Record<StepNow, string>> = {
  works: 'The agent is working.',
  waits: 'The agent waits for your decision.',
  rests: 'No process works on the run. The step continues when the run is resumed.',
};

interface Props {
  readonly step: WatchedStep;
  readonly now: StepNow;
}

/** What the agent was told, said and did. While it works, the end stays in view. */
export function Conversation({ step, now }: Props) {
  const { messages, partial, outcome } = step;
  const items = useMemo(() => itemsOf(messages), [messages]);
  const end = useRef<HTMLDivElement>(null);
  const isLive = outcome === null;
  // New words are the reason to scroll.
  useLayoutEffect(() => {
    const box = end.current?.closest('.scroll');
    if (!box || !isLive) return;
    const isNear = box.scrollTop + box.clientHeight > box.scrollHeight - NEAR;
    if (isNear) box.scrollTop = box.scrollHeight;
  }, [messages, partial]);
  const left = step.omitted;
  return (
    <div class="talk">
      {step.prompt && (
        <details class="fold">
          <summary>{step.kind === 'prompt' ? 'Prompt' : 'Input'}</summary>
          <pre class="block">{visible(step.prompt.text)}</pre>
          <Omitted count={step.prompt.omitted} />
        </details>
      )}
      {left > 0 && <p class="faint small">{counted(left, 'earlier message')} left out.</p>}
      {items.map((item, index) => (
        <Message key={left + index} item={item} now={now} />
      ))}
      {partial !== '' && (
        <div class="said live" aria-busy="true">
          {visible(partial)}
        </div>
      )}
      {isLive && partial === '' && (
        <p class={`faint small ${now === 'works' ? 'working' : ''}`}>
          <span aria-hidden="true">●</span> {NOW[now]}
        </p>
      )}
      {!isLive && items.length === 0 && <Nothing step={step} />}
      <div ref={end} />
    </div>
  );
}

/** A reader who has scrolled up farther than this wants to stay there. */
const NEAR = 160;

function Nothing({ step: { kept } }: { readonly step: WatchedStep }) {
  return (
    <p class="faint">
      {kept ? 'The step said nothing.' : 'The records of this step were removed.'}
    </p>
  );
}

function Message({ item, now }: { readonly item: Item; readonly now: StepNow }) {
  switch (item.kind) {
    case 'text':
      return <Said text={item.text} omitted={item.omitted} />;
    case 'thinking':
      return (
        <details class="fold">
          <summary>Thinking</summary>
          <div class="words">{visible(item.text)}</div>
          <Omitted count={item.omitted} />
        </details>
      );
    case 'tool':
      return <Tool {...item} now={now} />;
    case 'note':
      return <p class="note small anywhere">{visible(item.text)}</p>;
    case 'stdout':
    case 'stderr':
      return (
        <figure class="output">
          <figcaption>{item.kind === 'stdout' ? 'Output' : 'Errors'}</figcaption>
          <pre class="block">{visible(item.text)}</pre>
          <Omitted count={item.omitted} />
        </figure>
      );
  }
}

function Said({ text, omitted }: { readonly text: string; readonly omitted: number }) {
  const html = useMarkdown(text);
  return (
    <div class="said">
      {html === undefined ? (
        <div class="raw">{visible(text)}</div>
      ) : (
        <div class="markdown" dangerouslySetInnerHTML={{ __html: html }} />
      )}
      <Omitted count={omitted} />
    </div>
  );
}

type ToolProps = Extract<Item, { kind: 'tool' }> & { readonly now: StepNow };

function Tool({ call, result, now }: ToolProps) {
  const open = now === 'works' ? 'runs' : 'waits';
  const state = !result ? open : result.failed ? 'failed' : 'done';
  return (
    <details class={`fold tool ${call.inner ? 'inner' : ''}`}>
      <summary>
        <Icon name="tool" />
        <b>{oneLine(call.name, 60)}</b>
        <code class="clip grow">{oneLine(call.summary, 200)}</code>
        <span class={`small ${TOOL_TONES[state]}`}>
          <span class="told">{state}</span>
        </span>
      </summary>
      <ToolInput input={call.text} />
      <Omitted count={call.omitted} />
      {result && (
        <>
          <pre class={`block ${result.failed ? 'bad' : ''}`}>
            {visible(result.text) || 'no output'}
          </pre>
          <Omitted count={result.omitted} />
        </>
      )}
    </details>
  );
}

const TOOL_TONES = {
  runs: 'tone-run',
  waits: 'tone-wait',
  failed: 'tone-fail',
  done: 'faint',
} as const;

function Omitted({ count }: { readonly count: number }) {
  return count > 0 ? <p class="faint small">{counted(count, 'more character')}</p> : null;
}
