import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useNow } from '../lib/hooks.ts';
import { useFollow } from '../lib/use-follow.ts';
import { counted, duration, msOf, oneLine, usd, visible } from '../lib/words.ts';
import { type Item, itemsOf } from '../stores/conversation.ts';
import type { WatchedStep } from '../stores/step-watch.ts';
import { CopyButton } from './copy-button.tsx';
import { Icon } from './icons.tsx';
import { Markdown } from './markdown.tsx';
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
  const items = useMemo(
    () => itemsOf(messages, { startedAt: msOf(step.started_at), denied: outcome?.denied ?? [] }),
    [messages, step.started_at, outcome],
  );
  const end = useRef<HTMLDivElement>(null);
  const isLive = outcome === null;
  const { isFollowing, jump } = useFollow(end, isLive, [messages, partial]);
  const left = step.omitted;
  return (
    <div class="talk">
      {step.prompt && (
        <details class="fold">
          <summary>{step.kind === 'prompt' ? 'Prompt' : 'Input'}</summary>
          <Block text={step.prompt.text} />
          <Omitted count={step.prompt.omitted} />
        </details>
      )}
      {left > 0 && <p class="faint small">{counted(left, 'earlier message')} left out.</p>}
      {items.map((item, index) => (
        <Message key={left + index} item={item} now={now} isLive={isLive} />
      ))}
      {partial !== '' && (
        <div class="said live" aria-busy="true">
          <Markdown text={partial} isLive />
        </div>
      )}
      {isLive && partial === '' && (
        <p class={`faint small ${now === 'works' ? 'working' : ''}`}>
          <span aria-hidden="true">●</span> {NOW[now]}
        </p>
      )}
      {!isLive && items.length === 0 && <Nothing step={step} />}
      {isLive && !isFollowing && (
        <button type="button" class="button jump" onClick={jump}>
          <Icon name="down" /> Jump to the latest
        </button>
      )}
      <div ref={end} />
    </div>
  );
}

function Nothing({ step: { kept } }: { readonly step: WatchedStep }) {
  return (
    <p class="faint">
      {kept ? 'The step said nothing.' : 'The records of this step were removed.'}
    </p>
  );
}

interface MessageProps {
  readonly item: Item;
  readonly now: StepNow;
  readonly isLive: boolean;
}

function Message({ item, now, isLive }: MessageProps) {
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
    case 'turn':
      return <p class="turn faint small">{turnText(item)}</p>;
    case 'person':
      return (
        <figure class="output">
          <figcaption>A person says</figcaption>
          <div class="words">{visible(item.text)}</div>
          <Omitted count={item.omitted} />
        </figure>
      );
    case 'note':
      return <p class="note small anywhere">{visible(item.text)}</p>;
    case 'stdout':
    case 'stderr':
      return (
        <figure class="output">
          <figcaption>{item.kind === 'stdout' ? 'Output' : 'Errors'}</figcaption>
          <Block text={item.text} isLive={isLive} />
          <Omitted count={item.omitted} />
        </figure>
      );
  }
}

/** What one answer of the model has used. */
function turnText({
  tokens_read,
  tokens_written,
  cost_usd,
  tookMs,
}: Extract<Item, { kind: 'turn' }>) {
  return [
    `${tokens_read.toLocaleString('en')} tokens read, ${tokens_written.toLocaleString('en')} written`,
    ...(cost_usd > 0 ? [usd(cost_usd, true)] : []),
    ...(tookMs === undefined ? [] : [duration(tookMs)]),
  ].join(' · ');
}

function Said({ text, omitted }: { readonly text: string; readonly omitted: number }) {
  return (
    <div class="said">
      <Markdown text={text} />
      <Omitted count={omitted} />
    </div>
  );
}

type ToolProps = Extract<Item, { kind: 'tool' }> & { readonly now: StepNow };

function Tool({ call, result, isDenied, now }: ToolProps) {
  const open = now === 'works' ? 'runs' : 'waits';
  const state = isDenied ? 'denied' : !result ? open : result.failed ? 'failed' : 'done';
  const isOpen = !result && state === 'runs';
  const time = useNow(isOpen ? 1_000 : undefined);
  const end = result ? result.at : isOpen ? time : undefined;
  const took = call.at === undefined || end === undefined ? undefined : end - call.at;
  return (
    <details class={`fold tool ${call.inner ? 'inner' : ''}`}>
      <summary>
        <Icon name="tool" />
        <b>{oneLine(call.name, 60)}</b>
        <code class="clip grow">{oneLine(call.summary, 200)}</code>
        {took !== undefined && took >= 0 && <span class="faint small">{duration(took)}</span>}
        <span class={`small ${TOOL_TONES[state]}`}>
          <span class="told">{state}</span>
        </span>
      </summary>
      <ToolInput input={call.text} />
      <Omitted count={call.omitted} />
      {result && (
        <>
          <Block text={result.text} empty="no output" isBad={result.failed} />
          <Omitted count={result.omitted} />
        </>
      )}
    </details>
  );
}

const TOOL_TONES = {
  runs: 'tone-run',
  waits: 'tone-wait',
  denied: 'tone-wait',
  failed: 'tone-fail',
  done: 'faint',
} as const;

interface BlockProps {
  readonly text: string;
  readonly empty?: string;
  readonly isBad?: boolean;
  /** It still grows. */
  readonly isLive?: boolean;
}

/** Text that is shown as it is. It scrolls, so the keys reach it. */
function Block({ text, empty = '', isBad = false, isLive = false }: BlockProps) {
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(isLive);
  // Output that grows stays at its end, until the reader scrolls up.
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <div class="copied">
      <pre
        class={`block ${isBad ? 'bad' : ''}`}
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a reader scrolls it with the keys.
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          isAtEnd.current = isLive && scrollTop + clientHeight > scrollHeight - 24;
        }}
      >
        {visible(text) || empty}
      </pre>
      {text !== '' && <CopyButton text={() => text} />}
    </div>
  );
}

function Omitted({ count }: { readonly count: number }) {
  return count > 0 ? <p class="faint small">{counted(count, 'more character')}</p> : null;
}
