import { useState } from 'preact/hooks';
import type { StoredRow } from '../../src/look/run-shape.ts';
import { troubleFrom } from '../lib/api.ts';
import { ago, costText, counted, lastName, oneLine, visible } from '../lib/words.ts';
import { isKind, KIND_NAMES, KINDS, type Kind } from '../stores/filter.ts';
import { runHash } from '../stores/route.ts';
import { Icon } from './icons.tsx';
import { Pill, runTone } from './status.tsx';
import { act, addDone, addTrouble, useTools } from './tools.ts';

/** Stops, resumes or deletes several runs. */
export function BulkRuns({
  runs,
  now,
}: {
  readonly runs: readonly StoredRow[];
  readonly now: number;
}) {
  const tools = useTools();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isBusy, setBusy] = useState(false);
  const [kind, setKind] = useState<Kind>('all');
  const wanted = runs.filter((run) => isKind(run, kind));
  const listed = wanted.slice(0, MOST);
  const picked = listed.filter(({ id }) => chosen.has(id));
  const [working, resting] = [picked.filter(works), picked.filter(canContinue)];
  const idle = picked.filter((run) => !works(run));
  const toggle = (id: string) => {
    const next = new Set(chosen);
    if (!next.delete(id)) next.add(id);
    setChosen(next);
  };
  /** One after the other. What one run refuses does not hold up the others. */
  const each = async (some: readonly StoredRow[], what: string, done: string) => {
    setBusy(true);
    let count = 0;
    for (const { id } of some)
      try {
        await act(tools, id, what, {});
        count += 1;
      } catch (error) {
        addTrouble(tools, troubleFrom(error), id);
      }
    if (count > 0) addDone(tools, '', `${counted(count, 'run')} ${done}.`);
    setChosen(new Set());
    setBusy(false);
  };
  return (
    <section class="bulk">
      <header class="line">
        <h2>Several runs at once</h2>
        <span class="faint" role="status">
          {counted(picked.length, 'run')} chosen
        </span>
        <span class="grow" />
        <select
          class="sort"
          aria-label="Which runs to choose from"
          value={kind}
          onChange={({ currentTarget: { value } }) => {
            setKind(KINDS.find((one) => one === value) ?? 'all');
            setChosen(new Set());
          }}
        >
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {KIND_NAMES[one]}
            </option>
          ))}
        </select>
        <button
          type="button"
          class="button"
          onClick={() =>
            setChosen(picked.length > 0 ? new Set() : new Set(listed.map(({ id }) => id)))
          }
        >
          {picked.length > 0 ? 'Choose none' : 'Choose all'}
        </button>
        <button
          type="button"
          class="button"
          disabled={isBusy || working.length === 0}
          onClick={() => each(working, '/stop', 'will stop when running steps have finished')}
        >
          Stop {working.length}
        </button>
        <button
          type="button"
          class="button primary"
          disabled={isBusy || resting.length === 0}
          onClick={() => each(resting, '/resume', 'continue')}
        >
          Resume {resting.length}
        </button>
        <button
          type="button"
          class="button danger"
          disabled={isBusy || idle.length === 0}
          onClick={() => tools.dialog.set({ kind: 'prune', runs: idle.map(({ id }) => id) })}
        >
          <Icon name="bin" />
          Delete {idle.length}
        </button>
      </header>
      <ul>
        {listed.map((run) => (
          <li key={run.id}>
            <label>
              <input
                type="checkbox"
                checked={chosen.has(run.id)}
                onChange={() => toggle(run.id)}
                aria-label={`${lastName(run.workflow)} ${visible(run.id)}`}
              />
            </label>
            <a class="clip grow" href={runHash(run.id)}>
              {lastName(run.workflow)} <span class="faint">{oneLine(run.id, 60)}</span>{' '}
              {oneLine(run.input?.text ?? '', 80)}
            </a>
            <Pill tone={runTone(run)}>{oneLine(run.condition, 24)}</Pill>
            <span class="faint small when">{ago(run.started_at, now)}</span>
            <span class="small when">{costText(run)}</span>
          </li>
        ))}
      </ul>
      {wanted.length > MOST && <p class="faint">{counted(wanted.length - MOST, 'older run')}</p>}
    </section>
  );
}

const MOST = 200;

const works = ({ pid }: StoredRow) => pid !== null;
const canContinue = (run: StoredRow) => !works(run) && run.status !== 'completed';
