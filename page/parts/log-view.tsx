import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { LogLine } from '../../src/serve/shapes/changes.ts';
import { useStore } from '../lib/store.ts';
import { clockSeconds, counted, visible } from '../lib/words.ts';
import { isShown, LOG_KIND_NAMES, LOG_KINDS, type LogFilter } from '../stores/log-filter.ts';
import type { RunWatch } from '../stores/run-watch.ts';
import { Check } from './form.tsx';
import type { Tone } from './status.tsx';

interface Props {
  readonly watch: RunWatch;
  readonly onAgent: (agent: string) => void;
}

/** The newest events, at the end. It stays at the end while the reader is there. */
export function LogView({ watch, onAgent }: Props) {
  const newest = useStore(watch.lines);
  const [filter, setFilter] = useState<LogFilter>({ kind: 'all', agent: '', details: false });
  const agents = [...new Set(newest.map(({ who }) => who))].filter((who) => who !== 'run').sort();
  const chosen = newest.filter((line) => isShown(line, filter));
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const choose = useRef(onAgent);
  choose.current = onAgent;
  // A line never changes, so it is made once. Preact leaves the same element alone.
  const made = useRef(new WeakMap<LogLine, JSX.Element>());
  const lines = chosen.map((line) => {
    const known = made.current.get(line) ?? lineOf(line, (agent) => choose.current(agent));
    made.current.set(line, known);
    return known;
  });
  // New lines are the reason to scroll.
  useLayoutEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [newest, filter]);
  return (
    <>
      <LogTools filter={filter} agents={agents} shown={lines.length} onFilter={setFilter} />
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
        {lines.length === 0 && (
          <div class="empty">
            <p>
              {newest.length === 0
                ? 'Events appear here as they happen.'
                : 'No line matches. Choose “All” and all agents.'}
            </p>
          </div>
        )}
      </div>
    </>
  );
}

interface ToolsProps {
  readonly filter: LogFilter;
  readonly agents: readonly string[];
  readonly shown: number;
  readonly onFilter: (filter: LogFilter) => void;
}

function LogTools({ filter, agents, shown, onFilter }: ToolsProps) {
  return (
    <div class="view-tools">
      <fieldset class="segments" aria-label="Which lines">
        {LOG_KINDS.map((kind) => (
          <button
            key={kind}
            type="button"
            aria-pressed={kind === filter.kind}
            onClick={() => onFilter({ ...filter, kind })}
          >
            {LOG_KIND_NAMES[kind]}
          </button>
        ))}
      </fieldset>
      {agents.length > 1 && (
        <select
          class="sort"
          aria-label="Lines of which agent"
          value={filter.agent}
          onChange={({ currentTarget: { value } }) => onFilter({ ...filter, agent: value })}
        >
          <option value="">All agents</option>
          {agents.map((agent) => (
            <option key={agent} value={agent}>
              {visible(agent)}
            </option>
          ))}
        </select>
      )}
      <Check isChecked={filter.details} onCheck={(details) => onFilter({ ...filter, details })}>
        Details
      </Check>
      <span class="grow" />
      <span class="faint" role="status">
        {counted(shown, 'line')}
      </span>
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
