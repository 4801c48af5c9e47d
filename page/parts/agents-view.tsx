import { useState } from 'preact/hooks';
import type { AgentShape, WholeRun } from '../../src/look/run-shape.ts';
import { doingText } from '../../src/observe/doing-text.ts';
import { useMedia, useNow, useSize } from '../lib/hooks.ts';
import { costText, counted, duration, visible } from '../lib/words.ts';
import { agentTold, sortedAgents, variablesText } from '../stores/agents.ts';
import type { Chosen } from '../stores/route.ts';
import { grownAgent, spentByAgent } from '../stores/spent.ts';
import { Search } from './form.tsx';
import { agentTone, agentWord, Mark } from './status.tsx';

interface Props {
  readonly run: WholeRun;
  readonly chosen: Chosen;
  readonly linkTo: (agent: AgentShape) => string;
}

/** Failed and waiting agents first. Only the rows that are visible are drawn. */
export function AgentsView({ run, chosen, linkTo }: Props) {
  const [words, setWords] = useState('');
  const [pane, size] = useSize<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const { agents: active = [] } = run.now ?? {};
  const doings = new Map(active.map((doing) => [doing.agent, doing]));
  const spent = spentByAgent(run);
  const now = useNow(run.counts.running > 0 ? 1_000 : undefined);
  const isNarrow = useMedia('(max-width: 760px)');
  const rowHeight = isNarrow ? 68 : 52;
  const shown = sortedAgents(run.agents, words);
  const first = Math.max(0, Math.floor(top / rowHeight) - SPARE);
  const last = Math.ceil((top + size.height) / rowHeight) + SPARE;
  return (
    <>
      <div class="view-tools">
        <Search
          placeholder="Filter agents"
          label="Filter agents by name, state, status or variable"
          words={words}
          onWords={setWords}
        />
        <span class="faint" role="status">
          {counted(shown.length, 'agent')}
          {shown.length !== run.agents.length && ` of ${run.agents.length}`}
        </span>
      </div>
      <div class="scroll" ref={pane} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
        <ul
          class="agent-list"
          aria-label="Agents"
          style={{ height: `${shown.length * rowHeight}px` }}
        >
          {shown.slice(first, last).map((agent, index) => {
            const doing = doings.get(agent.id);
            const isDoing = agent.status.kind === 'running' && agent.status.step === doing?.step;
            const newest = isDoing && doing ? doingText(doing, 200) : '';
            const tone = agentTone(agent.status);
            return (
              <li key={agent.id} aria-setsize={shown.length} aria-posinset={first + index + 1}>
                <a
                  class={`agent-row tone-${tone}`}
                  href={linkTo(agent)}
                  aria-current={chosen.kind === 'agent' && chosen.agent === agent.id}
                  style={{ top: `${(first + index) * rowHeight}px` }}
                >
                  <Mark tone={tone} />
                  <span class="who clip">
                    <b>{visible(agent.id)}</b>{' '}
                    <span class="faint small">{variablesText(agent)}</span>
                  </span>
                  <span class="two-lines">
                    <span class="clip state">
                      {visible(agent.state)} <span class="faint">· {agentWord(agent)}</span>
                    </span>
                    <span class="clip faint told">
                      {newest || agentTold(agent, now, run.pid !== null)}
                    </span>
                  </span>
                  <span class="figures">
                    <span>{costText(grownAgent(agent, spent))}</span>
                    <span>
                      {counted(agent.steps, 'step')}, {duration(agent.worked_ms)}
                    </span>
                  </span>
                </a>
              </li>
            );
          })}
        </ul>
        {shown.length === 0 && (
          <div class="empty">
            <p>No agent matches. Change the words.</p>
          </div>
        )}
      </div>
    </>
  );
}

/** Rows above and below the visible ones, so that scrolling shows no gaps. */
const SPARE = 8;
