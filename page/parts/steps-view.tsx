import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AgentShape, WholeRun } from '../../src/look/run-shape.ts';
import type { StepRow } from '../../src/look/step-list.ts';
import { useSize } from '../lib/hooks.ts';
import { useStore } from '../lib/store.ts';
import { topOf, windowOf } from '../lib/window-of.ts';
import { costText, counted, duration, msOf, oneLine, visible } from '../lib/words.ts';
import { hashOf } from '../stores/route.ts';
import { StepsOf } from '../stores/steps-of.ts';
import { AgentChoice } from './agent-choice.tsx';
import { Search } from './form.tsx';
import { Icon } from './icons.tsx';
import { Mark, STEP_TONES } from './status.tsx';
import { StepView } from './step-view.tsx';

interface Props {
  readonly run: WholeRun;
  readonly agent: AgentShape;
  /** The step to begin with. */
  readonly step: number | undefined;
  readonly onChoose: (agent: string | undefined, step?: number) => void;
}

/** The steps of an agent, and its whole conversation. Only the visible steps are read and drawn. */
export function StepsView({ run, agent, step, onChoose }: Props) {
  const [steps, setSteps] = useState<StepsOf>();
  useEffect(() => {
    const next = new StepsOf(run.id, agent.id);
    setSteps(next);
    return () => next.end();
  }, [run.id, agent.id]);
  const over = agent.status.kind;
  useEffect(() => {
    void steps?.read();
  }, [steps, agent.steps, over]);
  return (
    <>
      <div class="view-tools">
        <AgentChoice run={run} agent={agent.id} onChoose={onChoose} />
        <span class="faint" role="status">
          {counted(agent.steps, 'step')}, {duration(agent.worked_ms)}, {costText(agent)}
        </span>
      </div>
      {steps && <Read steps={steps} run={run} agent={agent} step={step} onChoose={onChoose} />}
    </>
  );
}

function Read({ steps, ...rest }: Props & { readonly steps: StepsOf }) {
  const rows = useStore(steps.rows);
  const trouble = useStore(steps.trouble);
  if (rows === undefined)
    return (
      <div class="empty" role={trouble && 'alert'} aria-busy={!trouble}>
        <p>{trouble ? `${trouble.message} ${trouble.remedy}` : 'Reading the steps'}</p>
      </div>
    );
  if (rows.length === 0)
    return (
      <div class="empty">
        <p>The agent has not started a step yet.</p>
      </div>
    );
  return <Steps rows={rows} {...rest} />;
}

function Steps({
  rows,
  run,
  agent,
  step,
  onChoose,
}: Props & { readonly rows: readonly StepRow[] }) {
  const [words, setWords] = useState('');
  const shown = words === '' ? rows : rows.filter((row) => hasWords(row, words));
  return (
    <div class="steps-view">
      <nav class="step-list" aria-label="Steps">
        <Search
          placeholder="Filter steps"
          label="Filter steps by state, status or number"
          words={words}
          onWords={setWords}
        />
        <List rows={shown} chosen={step} onStep={(number) => onChoose(agent.id, number)} />
      </nav>
      <Talk key={words} rows={shown} run={run} agent={agent} step={step} />
    </div>
  );
}

function hasWords({ step, state, status, task, kind, failure }: StepRow, words: string): boolean {
  const text = `${step} ${state} ${status} ${task} ${kind} ${failure ?? ''}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

interface ListProps {
  readonly rows: readonly StepRow[];
  readonly chosen: number | undefined;
  readonly onStep: (step: number) => void;
}

function List({ rows, chosen, onStep }: ListProps) {
  const [pane, { height }] = useSize<HTMLDivElement>();
  const [top, setTop] = useState(0);
  const { first, end, above } = windowOf({}, rows.length, ROW, { top, height });
  useLayoutEffect(() => {
    const at = rows.findIndex(({ step }) => step === chosen);
    const place = at * ROW;
    if (at < 0 || !pane.current || (place >= top && place < top + height - ROW)) return;
    pane.current.scrollTop = place - height / 2;
  }, [chosen, height > 0]);
  return (
    <div class="scroll" ref={pane} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <ol style={{ height: `${rows.length * ROW}px` }}>
        {rows.slice(first, end).map((row, index) => (
          <li
            key={row.step}
            aria-setsize={rows.length}
            aria-posinset={first + index + 1}
            style={{ top: `${above + index * ROW}px` }}
          >
            <button
              type="button"
              class={`tone-${STEP_TONES[row.status]}`}
              aria-current={row.step === chosen ? 'step' : undefined}
              onClick={() => onStep(row.step)}
            >
              <Mark tone={STEP_TONES[row.status]} />
              <b>{row.step}</b>
              <span class={`clip grow ${row.abandoned ? 'abandoned' : ''}`}>
                {visible(row.state)}
                {row.task !== 'state' && <span class="faint"> {row.task}</span>}
              </span>
              <span class="faint small">{lengthOf(row)}</span>
              <span class="visually-hidden">
                {row.status}
                {row.abandoned && ', taken back by a rewind'}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {rows.length === 0 && <p class="faint small">No step matches. Change the words.</p>}
    </div>
  );
}

const ROW = 32;

const lengthOf = ({ started_at, ended_at }: StepRow) =>
  ended_at === null ? 'now' : duration(msOf(ended_at) - msOf(started_at));

interface TalkProps {
  readonly rows: readonly StepRow[];
  readonly run: WholeRun;
  readonly agent: AgentShape;
  readonly step: number | undefined;
}

function Talk({ rows, run, agent, step }: TalkProps) {
  const [pane, { height }] = useSize<HTMLElement>();
  const [top, setTop] = useState(0);
  const [heights, setHeights] = useState<Readonly<Record<number, number>>>({});
  const at = windowOf(heights, rows.length, USUAL, { top, height });
  const wanted = rows.findIndex((row) => row.step === step);
  // A step above that has just been read must not push the wanted one away.
  const goal = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    goal.current = wanted < 0 ? undefined : wanted;
  }, [step]);
  useLayoutEffect(() => {
    if (goal.current === undefined || height === 0 || !pane.current) return;
    pane.current.scrollTop = topOf(heights, goal.current, USUAL);
    setTop(pane.current.scrollTop);
  }, [step, heights, height > 0]);
  const leave = () => {
    goal.current = undefined;
  };
  const measure = (row: number, size: number) => {
    if (size > 0 && heights[row] !== size) setHeights((known) => ({ ...known, [row]: size }));
  };
  return (
    <section
      class="scroll talk-all"
      aria-label={`Conversation of ${agent.id}`}
      ref={pane}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      onWheel={leave}
      onPointerDown={leave}
      onKeyDown={leave}
    >
      <div style={{ height: `${at.above}px` }} />
      {rows.slice(at.first, at.end).map((row, index) => (
        <Item
          key={row.step}
          row={row}
          run={run}
          agent={agent}
          onHeight={(size) => measure(at.first + index, size)}
        />
      ))}
      <div style={{ height: `${at.below}px` }} />
    </section>
  );
}

/** The height of a step that was not drawn yet, in pixels. */
const USUAL = 140;

interface ItemProps {
  readonly row: StepRow;
  readonly run: WholeRun;
  readonly agent: AgentShape;
  readonly onHeight: (height: number) => void;
}

function Item({ row, run, agent, onHeight }: ItemProps) {
  const box = useRef<HTMLElement>(null);
  const tell = useRef(onHeight);
  tell.current = onHeight;
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => tell.current(element.offsetHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const chosen = { kind: 'agent', agent: agent.id, step: row.step } as const;
  const place = { kind: 'run', run: run.id, chosen } as const;
  return (
    <article class="one-step" ref={box} aria-label={`Step ${row.step}, ${row.state}`}>
      <header class={`tone-${STEP_TONES[row.status]}`}>
        <Mark tone={STEP_TONES[row.status]} />
        <a href={hashOf({ ...place, tab: 'steps' })}>Step {row.step}</a>
        {row.abandoned && <span class="faint">taken back by a rewind</span>}
        {row.failure !== null && <span class="told clip">{oneLine(row.failure)}</span>}
        <span class="grow" />
        <a class="small" href={hashOf({ ...place, tab: 'changes' })}>
          <Icon name="branch" /> Changes
        </a>
      </header>
      <StepView run={run} agent={agent} step={row.step} />
    </article>
  );
}
