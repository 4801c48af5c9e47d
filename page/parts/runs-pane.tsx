import { useEffect, useRef, useState } from 'preact/hooks';
import type { RunRow, StoredRow } from '../../src/look/run-shape.ts';
import { useNow } from '../lib/hooks.ts';
import { useStore } from '../lib/store.ts';
import { clock, costText, counted, duration, lastName, oneLine, visible } from '../lib/words.ts';
import {
  isKind,
  KIND_NAMES,
  KINDS,
  type Listing,
  listedRuns,
  listingIn,
  SORT_NAMES,
  SORTS,
  searchOf,
} from '../stores/filter.ts';
import { projectIn, runHash } from '../stores/route.ts';
import { workedText } from '../stores/worked.ts';
import { Search } from './form.tsx';
import { Icon } from './icons.tsx';
import { Mark, Pill, runTone, runWord } from './status.tsx';
import { useTools } from './tools.ts';

export function RunsPane() {
  const tools = useTools();
  const runs = useStore(tools.runs.runs);
  const trouble = useStore(tools.runs.trouble);
  const route = useStore(tools.route);
  const [listing, setListing] = useState(() => listingIn(location.search));
  const [most, setMost] = useState(PAGE);
  const isActive = runs?.some((run) => isKind(run, 'active')) ?? false;
  const now = useNow(isActive ? 1_000 : 20_000);
  const change = (part: Partial<Listing>) => {
    const next = { ...listing, ...part };
    setListing(next);
    setMost(PAGE);
    const search = searchOf(next, projectIn(location.search));
    history.replaceState(null, '', `${location.pathname}${search}${location.hash}`);
  };
  const shown = listedRuns(runs ?? [], listing);
  const chosen = route.kind === 'run' ? route.run : undefined;
  const at = shown.findIndex(({ id }) => id === chosen);
  // A link may lead to a run that the filter does not show.
  const hidden = at < 0 && chosen !== undefined ? runs?.find(({ id }) => id === chosen) : undefined;
  const apart = hidden ?? (at < most ? undefined : shown[at]);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen, runs === undefined]);
  return (
    <nav class="runs" aria-label="Runs">
      <div class="tools">
        <Search
          id="run-filter"
          placeholder="Find runs"
          label="Find runs by input, result, workflow, id, status, date, cost>1 or after:2026-11-01"
          words={listing.words}
          onWords={(words) => change({ words })}
        />
        <fieldset class="filters" aria-label="Which runs">
          {KINDS.map((one) => (
            <button
              key={one}
              type="button"
              class="filter"
              aria-pressed={one === listing.kind}
              onClick={() => change({ kind: one })}
            >
              {KIND_NAMES[one]} <b>{(runs ?? []).filter((run) => isKind(run, one)).length}</b>
            </button>
          ))}
        </fieldset>
        <p class="found small faint">
          <span role="status">{runs && counted(shown.length, 'run')}</span>
          <span class="grow" />
          <select
            class="sort"
            aria-label="Order of the runs"
            value={listing.sort}
            onChange={({ currentTarget: { value } }) =>
              change({ sort: SORTS.find((sort) => sort === value) ?? 'newest' })
            }
          >
            {SORTS.map((sort) => (
              <option key={sort} value={sort}>
                {SORT_NAMES[sort]}
              </option>
            ))}
          </select>
        </p>
      </div>
      <div class="list" ref={list}>
        {apart && (
          <div class="hidden-run">
            <p class="small faint">
              {hidden ? 'The filter does not show this run:' : 'Further down in the list:'}
            </p>
            <Row run={apart} now={now} isChosen />
          </div>
        )}
        {runs === undefined ? (
          <Waiting isBusy={trouble === undefined} />
        ) : shown.length === 0 ? (
          <NoRuns isAny={runs.length > 0} />
        ) : (
          <ul>
            {shown.slice(0, most).map((run) => (
              <li key={run.id}>
                <Row run={run} now={now} isChosen={run.id === chosen} />
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
        <Pill tone={tone}>{oneLine(runWord(run), 24)}</Pill>
      </span>
      {run.status === 'damaged' ? (
        <span class="facts line tone-fail">
          <span class="clip grow told">{oneLine(run.problem.message)}</span>
        </span>
      ) : (
        <Facts run={run} now={now} />
      )}
    </a>
  );
}

/** What it is for, what came of it, and what it has used. */
function Facts({ run, now }: { readonly run: StoredRow; readonly now: number }) {
  const { agents } = run;
  const failed = agents.failed + agents.failed_joined;
  return (
    <>
      {run.input && run.input.text.trim() !== '' && (
        <span class="clip purpose">{oneLine(run.input.text, 120)}</span>
      )}
      {run.failure ? (
        <span class="clip came tone-fail">
          <span class="told">{oneLine(run.failure.text, 120)}</span>
        </span>
      ) : (
        run.result &&
        run.result.text.trim() !== '' && (
          <span class="clip came">
            <span aria-hidden="true">→ </span>
            <span class="visually-hidden">Result: </span>
            {oneLine(run.result.text, 120)}
          </span>
        )
      )}
      <span class="facts line">
        <span class="clip grow">{visible(run.id)}</span>
        {run.questions > 0 && (
          <b class="tone-wait">
            <Mark tone="wait" /> asks
          </b>
        )}
        {failed > 0 && <b class="tone-fail">{failed} failed</b>}
        <span class="fixed">{clock(run.started_at, now)}</span>
        <span class="fixed">{workedText(run, now, duration)}</span>
        <span class="fixed">{costText(run)}</span>
      </span>
    </>
  );
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

/** Until the list has arrived. If something prevents that, the notice at the top of the page says what. */
function Waiting({ isBusy }: { readonly isBusy: boolean }) {
  if (!isBusy)
    return (
      <div class="empty">
        <p>The page has not received the list of runs yet.</p>
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
