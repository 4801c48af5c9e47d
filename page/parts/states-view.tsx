import { useState } from 'preact/hooks';
import type { StateFigures, WholeRun } from '../../src/look/run-shape.ts';
import { useStore } from '../lib/store.ts';
import { costText, duration, lastName, visible } from '../lib/words.ts';
import { basisText, type UsualState, usualOf, usualText } from '../stores/forecast.ts';
import type { RunWatch } from '../stores/run-watch.ts';

const COLUMNS = [
  { name: 'State', key: 'state' },
  { name: 'Visits', key: 'visits' },
  { name: 'Steps', key: 'steps' },
  { name: 'Failures', key: 'failures' },
  { name: 'Time', key: 'worked_ms' },
  { name: 'Cost', key: 'cost_usd' },
] as const;
type Key = (typeof COLUMNS)[number]['key'];

interface Props {
  readonly run: WholeRun;
  readonly watch: RunWatch;
  readonly onState: (figures: StateFigures) => void;
}

/** Visits, time and cost of every state. */
export function StatesView({ run, watch, onState }: Props) {
  const forecast = useStore(watch.forecast);
  const hasUsual = forecast?.run != null;
  const [key, setKey] = useState<Key>('cost_usd');
  const [isUp, setUp] = useState(false);
  const sorted = run.states.toSorted((a, b) => (isUp ? compare(a, b, key) : compare(b, a, key)));
  const largest = (of: 'worked_ms' | 'cost_usd') =>
    run.states.reduce((most, state) => Math.max(most, state[of]), 0);
  const [mostTime, mostCost] = [largest('worked_ms'), largest('cost_usd')];
  const workflows = new Set(run.states.map(({ workflow }) => workflow));
  const sortBy = (next: Key) => {
    setUp(next === key ? !isUp : next === 'state');
    setKey(next);
  };
  if (sorted.length === 0)
    return (
      <div class="empty">
        <p>No state has been entered yet.</p>
      </div>
    );
  return (
    <div class="scroll">
      {forecast && <p class="view-tools faint">{basisText(forecast)}</p>}
      <table class="figures">
        <caption class="visually-hidden">Figures of the states</caption>
        <thead>
          <tr>
            {COLUMNS.map((column) => (
              <th
                key={column.key}
                scope="col"
                class={OPTIONAL.has(column.key) ? 'optional' : ''}
                aria-sort={column.key !== key ? 'none' : isUp ? 'ascending' : 'descending'}
              >
                <button type="button" onClick={() => sortBy(column.key)}>
                  {column.name}
                  <span aria-hidden="true">{column.key !== key ? '' : isUp ? ' ↑' : ' ↓'}</span>
                </button>
              </th>
            ))}
            {hasUsual && (
              <th scope="col" class="optional plain">
                Usually
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {sorted.slice(0, MOST).map((state) => (
            <tr key={`${state.workflow}\n${state.state}`}>
              <td class="anywhere">
                <button type="button" class="link" onClick={() => onState(state)}>
                  {visible(state.state)}
                </button>
                {workflows.size > 1 && <span class="faint small"> {lastName(state.workflow)}</span>}
              </td>
              <td>{state.visits}</td>
              <td class="optional">{state.steps}</td>
              <td class={state.failures > 0 ? 'tone-fail' : ''}>
                <span class="told">{state.failures > 0 ? `${state.failures} failed` : '0'}</span>
              </td>
              <td class="share">
                {duration(state.worked_ms)}
                <Share part={mostTime > 0 ? state.worked_ms / mostTime : 0} />
              </td>
              <td class="share">
                {costText(state)}
                <Share part={mostCost > 0 ? state.cost_usd / mostCost : 0} />
              </td>
              {hasUsual && (
                <td class="optional faint">
                  <Usual
                    usual={
                      state.workflow === run.workflow ? usualOf(forecast, state.state) : undefined
                    }
                  />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > MOST && <p class="view-tools faint">{sorted.length - MOST} more states</p>}
    </div>
  );
}

const MOST = 500;
const OPTIONAL: ReadonlySet<Key> = new Set(['steps']);

function compare(a: StateFigures, b: StateFigures, key: Key): number {
  if (key === 'state') return a.state < b.state ? -1 : 1;
  return a[key] - b[key];
}

function Usual({ usual }: { readonly usual: UsualState | undefined }) {
  return <>{usual ? usualText(usual) : '–'}</>;
}

/** The figure above it says the same. */
function Share({ part }: { readonly part: number }) {
  return <i aria-hidden="true" style={{ '--part': `${Math.round(part * 100)}%` }} />;
}
