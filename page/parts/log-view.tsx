import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { JournaledEvent } from '../../src/model/event.ts';
import { eventText } from '../lib/event-text.ts';
import { useStore } from '../lib/store.ts';
import { clockSeconds, visible } from '../lib/words.ts';
import type { RunWatch } from '../stores/run-watch.ts';

interface Props {
  readonly watch: RunWatch;
  readonly onAgent: (agent: string) => void;
}

/** The newest events, at the end. It stays at the end while the reader is there. */
export function LogView({ watch, onAgent }: Props) {
  const { newest } = useStore(watch.events);
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const choose = useRef(onAgent);
  choose.current = onAgent;
  // A line never changes, so it is made once. Preact leaves the same element alone.
  const made = useRef(new WeakMap<JournaledEvent, JSX.Element | null>());
  const lines = newest.slice(-MOST).flatMap((event) => {
    const known = made.current.get(event);
    const line = known === undefined ? lineOf(event, (agent) => choose.current(agent)) : known;
    made.current.set(event, line);
    return line ?? [];
  });
  // New lines are the reason to scroll.
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [newest]);
  if (lines.length === 0)
    return (
      <div class="empty">
        <p>Events appear here as they happen.</p>
      </div>
    );
  return (
    <div
      class="scroll"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a reader scrolls it with the keys.
      tabIndex={0}
      role="log"
      aria-label="Newest events"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        isAtEnd.current = scrollTop + clientHeight > scrollHeight - 24;
      }}
    >
      <ol class="log">{lines}</ol>
    </div>
  );
}

/** Null for an event without a line. */
function lineOf(event: JournaledEvent, onAgent: (agent: string) => void): JSX.Element | null {
  const told = eventText(event);
  if (!told) return null;
  return (
    <li key={event.seq} class={told.tone === 'plain' ? '' : `tone-${told.tone}`}>
      <time>{clockSeconds(event.at)}</time>
      <span class="clip">
        {'agent' in event ? (
          <button type="button" class="link" onClick={() => onAgent(event.agent)}>
            {visible(event.agent)}
          </button>
        ) : (
          <span class="faint">run</span>
        )}
      </span>
      <span class="told">{told.text}</span>
    </li>
  );
}

const MOST = 400;
