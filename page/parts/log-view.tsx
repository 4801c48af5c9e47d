import type { JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LogLine } from '../../src/serve/shapes/changes.ts';
import { useStore } from '../lib/store.ts';
import { clockSeconds, visible } from '../lib/words.ts';
import type { RunWatch } from '../stores/run-watch.ts';
import type { Tone } from './status.tsx';

interface Props {
  readonly watch: RunWatch;
  readonly onAgent: (agent: string) => void;
}

/** The newest events, at the end. It stays at the end while the reader is there. */
export function LogView({ watch, onAgent }: Props) {
  const newest = useStore(watch.lines);
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const choose = useRef(onAgent);
  choose.current = onAgent;
  // A line never changes, so it is made once. Preact leaves the same element alone.
  const made = useRef(new WeakMap<LogLine, JSX.Element>());
  const lines = newest.map((line) => {
    const known = made.current.get(line) ?? lineOf(line, (agent) => choose.current(agent));
    made.current.set(line, known);
    return known;
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

function lineOf(line: LogLine, onAgent: (agent: string) => void): JSX.Element {
  const tone = TONES[line.tone];
  return (
    <li key={line.seq} class={tone && `tone-${tone}`}>
      <time>{clockSeconds(line.at)}</time>
      <span class="clip">
        {line.who === 'run' ? (
          <span class="faint">run</span>
        ) : (
          <button type="button" class="link" onClick={() => onAgent(line.who)}>
            {visible(line.who)}
          </button>
        )}
      </span>
      <span class="told">{visible(line.text)}</span>
    </li>
  );
}

const TONES: Readonly<Partial<Record<LogLine['tone'], Tone>>> = {
  good: 'done',
  warning: 'wait',
  bad: 'fail',
};
