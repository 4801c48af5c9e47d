import { useState } from 'preact/hooks';
import type { RunRow } from '../../src/look/run-shape.ts';
import { useNow } from '../lib/hooks.ts';
import { useStore } from '../lib/store.ts';
import { ago, costText, counted, lastName, oneLine, visible } from '../lib/words.ts';
import { filtered, isKind, KIND_NAMES, KINDS, type Kind } from '../stores/filter.ts';
import { runHash } from '../stores/route.ts';
import { Search } from './form.tsx';
import { Icon } from './icons.tsx';
import { Mark, Pill, runTone } from './status.tsx';
import { useTools } from './tools.ts';

export function RunsPane() {
  const tools = useTools();
  const runs = useStore(tools.runs.runs);
  const trouble = useStore(tools.runs.trouble);
  const route = useStore(tools.route);
  const [kind, setKind] = useState<Kind>('all');
  const [words, setWords] = useState('');
  const [most, setMost] = useState(PAGE);
  const now = useNow(20_000);
  const shown = filtered(runs ?? [], kind, words);
  return (
    <nav class="runs" aria-label="Runs">
      <div class="tools">
        <Search
          id="run-filter"
          placeholder="Filter runs"
          label="Filter runs by workflow, id or status"
          words={words}
          onWords={setWords}
        />
        <fieldset class="filters" aria-label="Which runs">
          {KINDS.map((one) => (
            <button
              key={one}
              type="button"
              class="filter"
              aria-pressed={one === kind}
              onClick={() => setKind(one)}
            >
              {KIND_NAMES[one]} <b>{(runs ?? []).filter((run) => isKind(run, one)).length}</b>
            </button>
          ))}
        </fieldset>
      </div>
      {trouble && runs && (
        <div class="notice tone-wait small" role="status">
          <Icon name="plug" />
          <p>
            {trouble.message} {trouble.remedy}
          </p>
        </div>
      )}
      <div class="list">
        {runs === undefined ? (
          <Waiting trouble={trouble} />
        ) : shown.length === 0 ? (
          <NoRuns isAny={runs.length > 0} />
        ) : (
          <ul>
            {shown.slice(0, most).map((run) => (
              <li key={run.id}>
                <Row run={run} now={now} isChosen={route.kind === 'run' && route.run === run.id} />
              </li>
            ))}
          </ul>
        )}
        {shown.length > most && (
          <button type="button" class="button more" onClick={() => setMost(most + PAGE)}>
            Show more of {counted(shown.length, 'run')}
          </button>
        )}
      </div>
    </nav>
  );
}

const PAGE = 60;

interface RowProps {
  readonly run: RunRow;
  readonly now: number;
  readonly isChosen: boolean;
}

function Row({ run, now, isChosen }: RowProps) {
  const tone = runTone(run);
  return (
    <a
      class={`run-row tone-${tone}`}
      href={runHash(run.id)}
      aria-current={isChosen ? 'page' : undefined}
    >
      <span class="line">
        <span class="name clip grow">
          {run.status === 'damaged' ? visible(run.id) : lastName(run.workflow)}
        </span>
        <Pill tone={tone}>{oneLine(run.condition, 24)}</Pill>
      </span>
      <span class="facts line">
        <span class="clip grow">
          {run.status === 'damaged' ? oneLine(run.problem.message) : visible(run.id)}
        </span>
        {run.status !== 'damaged' && <span>{ago(run.started_at, now)}</span>}
      </span>
      {run.status !== 'damaged' && (
        <span class="facts line">
          <span class="clip grow">{workText(run)}</span>
          {run.questions > 0 && (
            <b class="tone-wait">
              <Mark tone="wait" /> asks
            </b>
          )}
          {run.agents.failed > 0 && <b class="tone-fail">{run.agents.failed} failed</b>}
          <span>{costText(run)}</span>
        </span>
      )}
    </a>
  );
}

function workText({ agents, steps }: Extract<RunRow, { agents: object }>): string {
  const running = agents.running > 0 ? [`${agents.running} running`] : [];
  return [counted(steps, 'step'), ...running].join(' · ');
}

function NoRuns({ isAny }: { readonly isAny: boolean }) {
  if (isAny)
    return (
      <div class="empty">
        <p>No run matches. Choose “All”, or change the words.</p>
      </div>
    );
  return (
    <div class="empty">
      <Icon name="inbox" />
      <h2>No runs yet</h2>
      <p>Start one here, or in a terminal:</p>
      <code class="command">raymond &lt;workflow&gt;</code>
      <a class="button" href="#/workflows">
        Choose a workflow
      </a>
    </div>
  );
}

function Waiting({
  trouble,
}: {
  readonly trouble: { message: string; remedy: string } | undefined;
}) {
  if (trouble)
    return (
      <div class="empty" role="alert">
        <Icon name="plug" />
        <h2>{trouble.message}</h2>
        <p>{trouble.remedy}</p>
      </div>
    );
  return (
    <div aria-busy="true">
      {[1, 2, 3, 4].map((row) => (
        <div key={row} class="run-row">
          <div class="skeleton" style={{ height: '18px', width: '70%' }} />
          <div class="skeleton" style={{ height: '13px', width: '90%' }} />
        </div>
      ))}
    </div>
  );
}
