import { useMemo, useState } from 'preact/hooks';
import { useNow } from '../lib/hooks.ts';
import { useStore } from '../lib/store.ts';
import { counted, duration, lastName, usd, visible } from '../lib/words.ts';
import { counting, type Day, daysOf, type WorkflowSum, workflowSums } from '../stores/overview.ts';
import { runHash } from '../stores/route.ts';
import { BulkRuns } from './bulk-runs.tsx';
import { useTools } from './tools.ts';

/** Spend, success and time of all runs. */
export function OverviewPage() {
  const tools = useTools();
  const runs = useStore(tools.runs.runs);
  const [days, setDays] = useState(14);
  const now = useNow(60_000);
  const stored = useMemo(() => counting(runs ?? []), [runs]);
  const list = useMemo(() => daysOf(stored, days, now), [stored, days, now]);
  const sums = useMemo(() => workflowSums(stored), [stored]);
  if (!runs)
    return (
      <div class="empty" aria-busy="true">
        <p>Reading the runs</p>
      </div>
    );
  const total = (of: 'costUsd' | 'runs' | 'failed' | 'workedMs') =>
    list.reduce((all, day) => all + day[of], 0);
  return (
    <div class="overview scroll">
      <header class="line">
        <h1>Overview</h1>
        <fieldset class="segments" aria-label="Time">
          {SPANS.map((span) => (
            <button
              key={span}
              type="button"
              aria-pressed={span === days}
              onClick={() => setDays(span)}
            >
              {span} days
            </button>
          ))}
        </fieldset>
      </header>
      <dl class="sums">
        <Sum name="Spent">{usd(total('costUsd'))}</Sum>
        <Sum name="Runs">{total('runs').toLocaleString('en')}</Sum>
        <Sum name="With failures">{total('failed').toLocaleString('en')}</Sum>
        <Sum name="Time at work">{duration(total('workedMs'))}</Sum>
      </dl>
      <Chart days={list} />
      <Workflows sums={sums} />
      <BulkRuns runs={stored} now={now} />
    </div>
  );
}

const SPANS = [7, 14, 30, 90] as const;

function Sum({ name, children }: { readonly name: string; readonly children: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });

/** A column per day: its height is the cost, or the number of runs if all are free. */
function Chart({ days }: { readonly days: readonly Day[] }) {
  const isFree = days.every(({ costUsd }) => costUsd === 0);
  const height = (day: Day) => (isFree ? day.runs : day.costUsd);
  const most = Math.max(...days.map(height), isFree ? 1 : 0.01);
  const every = Math.ceil(days.length / 8);
  return (
    <figure class="chart">
      <figcaption>{isFree ? 'Runs per day' : 'Spend per day'}</figcaption>
      <ol style={{ gridTemplateColumns: `repeat(${days.length}, minmax(0, 1fr))` }}>
        {days.map((day, index) => (
          <li key={day.at} title={dayText(day)}>
            <span class="column" aria-hidden="true">
              <i
                class={day.failed > 0 ? 'bad' : ''}
                style={{ height: `${(height(day) / most) * 100}%` }}
              />
            </span>
            <span class="when" aria-hidden="true">
              {index % every === 0 ? DAY.format(day.at) : ''}
            </span>
            <span class="visually-hidden">{dayText(day)}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}

const dayText = ({ at, runs, failed, costUsd, workedMs }: Day) =>
  `${DAY.format(at)}: ${counted(runs, 'run')}, ${failed} with failures, ${usd(costUsd)}, ${duration(workedMs)}`;

function Workflows({ sums }: { readonly sums: readonly WorkflowSum[] }) {
  return (
    <table class="plain-table">
      <caption class="visually-hidden">Workflows, the most expensive first</caption>
      <thead>
        <tr>
          <th scope="col">Workflow</th>
          <th scope="col">Runs</th>
          <th scope="col">Completed</th>
          <th scope="col">With failures</th>
          <th scope="col">Spent</th>
          <th scope="col">Usual cost</th>
          <th scope="col">Usual time</th>
          <th scope="col">Newest against usual</th>
        </tr>
      </thead>
      <tbody>
        {sums.slice(0, 200).map((one) => (
          <tr key={one.workflow}>
            <th scope="row" class="anywhere" title={visible(one.workflow)}>
              {lastName(one.workflow)}
            </th>
            <td>{one.runs}</td>
            <td>{Math.round((one.completed / one.runs) * 100)} %</td>
            <td class={one.failed > 0 ? 'tone-fail' : ''}>
              <span class="told">{one.failed}</span>
            </td>
            <td>{usd(one.costUsd)}</td>
            <td>{one.usual ? usd(one.usual.costUsd) : '–'}</td>
            <td>{one.usual ? duration(one.usual.workedMs) : '–'}</td>
            <td>
              {one.newest ? (
                <a href={runHash(one.newest.id)}>{againstText(one.newest)}</a>
              ) : (
                <span class="faint">needs four runs</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `cost 120 %, time 95 %`. */
function againstText({ cost, time }: NonNullable<WorkflowSum['newest']>): string {
  const parts = [
    ...(cost === undefined ? [] : [`cost ${Math.round(cost * 100)} %`]),
    ...(time === undefined ? [] : [`time ${Math.round(time * 100)} %`]),
  ];
  return parts.join(', ') || 'as usual';
}
