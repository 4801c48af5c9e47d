import { useMemo } from 'preact/hooks';
import type { Diff } from '../../src/look/diff-shape.ts';
import type { RunRow, WholeRun } from '../../src/look/run-shape.ts';
import type { StepList } from '../../src/look/step-list.ts';
import { lineDiff } from '../../src/view/line-diff.ts';
import { useStore } from '../lib/store.ts';
import { useAnswer } from '../lib/use-answer.ts';
import { ago, costText, counted, duration, lastName, oneLine, usd, visible } from '../lib/words.ts';
import { type Both, bothStates, changedIn, pathOf } from '../stores/compare.ts';
import { runHash } from '../stores/route.ts';
import { Pill, runTone } from './status.tsx';
import { DiffBody } from './tool-input.tsx';
import { useTools } from './tools.ts';
import { VariantsView } from './variants-view.tsx';

interface Props {
  readonly a: string | undefined;
  readonly b: string | undefined;
}

/** Two runs side by side. */
export function ComparePage({ a, b }: Props) {
  const tools = useTools();
  const runs = useStore(tools.runs.runs) ?? [];
  const choose = (which: 'a' | 'b') => (id: string) =>
    tools.go({ kind: 'compare', a, b, [which]: id });
  return (
    <div class="compare scroll">
      <h1>Compare two runs</h1>
      <div class="pair choices">
        <Choice label="First run" runs={runs} chosen={a} onChoose={choose('a')} />
        <Choice label="Second run" runs={runs} chosen={b} other={a} onChoose={choose('b')} />
      </div>
      {a !== undefined && <VariantsView run={originOf(runs, a)} />}
      {a !== undefined && b !== undefined ? (
        <Compared key={`${a} ${b}`} a={a} b={b} />
      ) : (
        <div class="empty">
          <p>Choose two runs. Runs of the same workflow tell the most.</p>
        </div>
      )}
    </div>
  );
}

/** A variant is compared with the others of its run. */
function originOf(runs: readonly RunRow[], id: string): string {
  const found = runs.find((run) => run.id === id);
  return found && found.status !== 'damaged' ? (found.origin?.run ?? id) : id;
}

interface ChoiceProps {
  readonly label: string;
  readonly runs: readonly RunRow[];
  readonly chosen: string | undefined;
  /** Runs of its workflow come first. */
  readonly other?: string | undefined;
  readonly onChoose: (id: string) => void;
}

function Choice({ label, runs, chosen, other, onChoose }: ChoiceProps) {
  const stored = runs.flatMap((run) => (run.status === 'damaged' ? [] : [run]));
  const workflow = stored.find(({ id }) => id === other)?.workflow;
  const sorted = stored
    .filter(({ id }) => id !== other)
    .toSorted((x, y) => Number(y.workflow === workflow) - Number(x.workflow === workflow));
  const now = Date.now();
  return (
    <select
      class="input"
      aria-label={label}
      value={chosen ?? ''}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      <option value="">{label}</option>
      {sorted.slice(0, MOST_RUNS).map((run) => (
        <option key={run.id} value={run.id}>
          {oneLine(`${lastName(run.workflow)} · ${run.id} · ${ago(run.started_at, now)}`, 90)}
        </option>
      ))}
    </select>
  );
}

const MOST_RUNS = 500;

function Compared({ a, b }: { readonly a: string; readonly b: string }) {
  const [first, second] = [useRun(a), useRun(b)];
  const trouble = first.trouble ?? second.trouble;
  if (trouble)
    return (
      <div class="empty" role="alert">
        <h2>{trouble.message}</h2>
        <p>{trouble.remedy}</p>
      </div>
    );
  if (!first.run || !second.run)
    return (
      <div class="empty" aria-busy="true">
        <p>Reading both runs</p>
      </div>
    );
  const runs: Both<WholeRun> = [first.run, second.run];
  return (
    <>
      <div class="pair">
        {runs.map((run) => (
          <Head key={run.id} run={run} />
        ))}
      </div>
      <Figures runs={runs} />
      <TextDiff title="Result" texts={[resultOf(runs[0]), resultOf(runs[1])]} />
      <TextDiff title="Input" texts={[runs[0].input?.text ?? '', runs[1].input?.text ?? '']} />
      {first.steps && second.steps && (
        <TextDiff
          title="Path of main"
          texts={[pathOf(first.steps.steps), pathOf(second.steps.steps)]}
        />
      )}
      <Files diffs={[first.diff, second.diff]} />
    </>
  );
}

function useRun(id: string) {
  const path = `/api/runs/${encodeURIComponent(id)}`;
  const { value: run, trouble } = useAnswer<WholeRun>(path);
  const { value: steps } = useAnswer<StepList>(`${path}/steps/main`);
  const { value: diff } = useAnswer<Diff>(`${path}/changes`);
  return { run, trouble, steps, diff };
}

const resultOf = ({ result }: WholeRun) => result?.text ?? '';

function Head({ run }: { readonly run: WholeRun }) {
  return (
    <section class="card">
      <h2 class="anywhere">
        <a href={runHash(run.id)}>{visible(run.id)}</a>
      </h2>
      <p>
        {lastName(run.workflow)} <Pill tone={runTone(run)}>{oneLine(run.condition, 40)}</Pill>
      </p>
    </section>
  );
}

function Figures({ runs }: { readonly runs: Both<WholeRun> }) {
  const [a, b] = runs;
  const rows: readonly (readonly [string, string, string, number, number])[] = [
    ['Cost', costText(a), costText(b), a.cost_usd, b.cost_usd],
    ['Time at work', duration(a.worked_ms), duration(b.worked_ms), a.worked_ms, b.worked_ms],
    ['Steps', `${a.steps}`, `${b.steps}`, a.steps, b.steps],
    ['Agents', `${a.agents.length}`, `${b.agents.length}`, a.agents.length, b.agents.length],
    ['Failed agents', `${a.counts.failed}`, `${b.counts.failed}`, a.counts.failed, b.counts.failed],
  ];
  const states = bothStates(runs);
  return (
    <table class="plain-table">
      <thead>
        <tr>
          <th scope="col">Figure</th>
          <th scope="col">First</th>
          <th scope="col">Second</th>
          <th scope="col">Change</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, first, second, x, y]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{first}</td>
            <td>{second}</td>
            <td>{changeText(x, y)}</td>
          </tr>
        ))}
        {states.map(({ state, visits, cost, time }) => (
          <tr key={state}>
            <th scope="row" class="anywhere">
              {visible(state)}
            </th>
            {([0, 1] as const).map((at) => (
              <td key={at}>
                {visits[at] === 0
                  ? '–'
                  : `${visits[at]}×, ${duration(time[at])}${cost[at] > 0 ? `, ${usd(cost[at])}` : ''}`}
              </td>
            ))}
            <td>{changeText(time[0], time[1])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `+20 %`. */
function changeText(before: number, after: number): string {
  if (before === after) return 'same';
  if (before === 0 || after === 0) return after > before ? 'new' : 'gone';
  const part = Math.round((after / before - 1) * 100);
  return `${part > 0 ? '+' : '−'}${Math.abs(part)} %`;
}

function TextDiff({ title, texts }: { readonly title: string; readonly texts: Both<string> }) {
  const [a, b] = texts;
  const lines = useMemo(() => lineDiff(a, b), [a, b]);
  return (
    <section class="compared">
      <h2>{title}</h2>
      {a === '' && b === '' ? (
        <p class="faint">Neither run has one.</p>
      ) : a === b ? (
        <p class="faint">The same in both runs.</p>
      ) : (
        <div class="diff">
          <DiffBody lines={lines} most={400} />
        </div>
      )}
    </section>
  );
}

function Files({ diffs: [a, b] }: { readonly diffs: Both<Diff | undefined> }) {
  if (!a || !b) return null;
  const files = changedIn([a, b]);
  return (
    <section class="compared">
      <h2>Changed files</h2>
      {files.length === 0 && <p class="faint">No recorded step of either run changed a file.</p>}
      <ul class="both-files">
        {files.slice(0, 300).map(({ path, where }) => (
          <li key={path}>
            <code class="anywhere">{visible(path)}</code>{' '}
            <span class="faint small">{WHERE[where]}</span>
          </li>
        ))}
      </ul>
      {files.length > 300 && <p class="faint">{counted(files.length - 300, 'more file')}</p>}
    </section>
  );
}

const WHERE = {
  first: 'only in the first run',
  second: 'only in the second run',
  same: 'the same change in both',
  differs: 'changed differently',
} as const;
