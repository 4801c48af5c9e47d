import { useLayoutEffect, useRef } from 'preact/hooks';
import { eventText } from '../lib/event-text.ts';
import { useStore } from '../lib/store.ts';
import { visible } from '../lib/words.ts';
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
  const lines = newest.slice(-MOST).flatMap((event) => {
    const text = eventText(event);
    return text ? [{ event, ...text }] : [];
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
      <ol class="log">
        {lines.map(({ event, text, tone }) => (
          <li key={event.seq} class={tone === 'plain' ? '' : `tone-${tone}`}>
            <time>{new Date(event.at).toLocaleTimeString([], { hour12: false })}</time>
            <span class="clip">
              {'agent' in event ? (
                <button type="button" class="link" onClick={() => onAgent(event.agent)}>
                  {visible(event.agent)}
                </button>
              ) : (
                <span class="faint">run</span>
              )}
            </span>
            <span class="told">{text}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

const MOST = 400;
