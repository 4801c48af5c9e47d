import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { WholeRun } from '../../src/look/run-shape.ts';
import type { BoundedText } from '../../src/model/bounded-text.ts';
import { useNow } from '../lib/hooks.ts';
import { useStore } from '../lib/store.ts';
import {
  clock,
  costText,
  counted,
  duration,
  lastName,
  oneLine,
  readable,
  usd,
  visible,
} from '../lib/words.ts';
import { rangeText, restText, usualText } from '../stores/forecast.ts';
import { hashOf, type Route, TABS, type Tab } from '../stores/route.ts';
import type { RunWatch } from '../stores/run-watch.ts';
import { grownRun } from '../stores/spent.ts';
import { Icon } from './icons.tsx';
import { Markdown } from './markdown.tsx';
import { Menu } from './menu.tsx';
import { RunMore } from './run-more.tsx';
import { useSending } from './send.ts';
import { Pill, runTone, runWord } from './status.tsx';
import { act, addDone, addTrouble, useTools } from './tools.ts';

/** A run of the list has all of it, except the agents and states. */
export type HeadRun = Pick<
  WholeRun,
  | 'id'
  | 'workflow'
  | 'status'
  | 'condition'
  | 'rehearsal'
  | 'started_at'
  | 'worked_ms'
  | 'cost_usd'
  | 'cost_is_estimate'
  | 'budget_usd'
  | 'steps'
  | 'counts'
  | 'input'
  | 'result'
  | 'result_json'
  | 'limits'
  | 'origin'
  | 'pid'
> &
  Partial<Pick<WholeRun, 'agents' | 'states' | 'now' | 'rights' | 'started_by'>>;

interface Props {
  readonly run: HeadRun;
  readonly watch: RunWatch;
  readonly route: Extract<Route, { kind: 'run' }>;
}

export function RunHead({ run, watch, route }: Props) {
  const isWorking = run.pid !== null && run.counts.running > 0;
  const now = useNow(isWorking ? 1_000 : 30_000);
  const since = useSince(run);
  const growing = isWorking ? now - since : 0;
  const failed = run.counts.failed + run.counts.failed_joined;
  const cost = grownRun(run);
  const forecast = useStore(watch.forecast);
  const tabs = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // On a phone, not all tabs fit.
    const current = tabs.current?.querySelector('[aria-current]');
    current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [route.tab]);
  const rest = restText(forecast?.rest ?? null);
  return (
    <header class="run-head">
      <div class="title">
        <a class="button quiet only-icon back" href="#/" aria-label="Back to all runs">
          <Icon name="back" />
        </a>
        <h1 class="clip" title={visible(run.workflow)}>
          {lastName(run.workflow)}
        </h1>
        <Pill tone={runTone(run)}>{runWord(run)}</Pill>
        {failed > (run.status === 'failed' ? 1 : 0) && (
          <Pill tone="fail">{`${failed} failed`}</Pill>
        )}
        {run.rehearsal && <Pill tone="rest">rehearsal</Pill>}
        {run.rights && (
          <Pill tone={run.rights === 'limited' ? 'rest' : 'fail'}>{RIGHTS[run.rights]}</Pill>
        )}
        <span class="grow" />
        <RunMore run={run.id} />
        <Acts run={run} />
      </div>
      <Purpose run={run} />
      <dl class="facts">
        <Fact name="Run">
          <code>{visible(run.id)}</code>
        </Fact>
        <Fact name="Started">{clock(run.started_at, now)}</Fact>
        {run.origin && (
          <Fact name="Variant of">
            <a href={hashOf({ kind: 'compare', a: run.origin.run, b: undefined })}>
              {visible(run.origin.run)} from before {visible(run.origin.agent)}:{run.origin.step}
            </a>
          </Fact>
        )}
        {run.started_by && (
          <Fact name="Started by">
            <a href="#/triggers">{oneLine(run.started_by, 60)}</a>
          </Fact>
        )}
        <Fact name="Worked">{duration(run.worked_ms + Math.max(0, growing))}</Fact>
        <Fact name="Cost">
          {costText(cost)}
          {run.budget_usd > 0 && ` of ${usd(run.budget_usd)}`}
          {run.budget_usd > 0 && <Meter part={cost.cost_usd / run.budget_usd} />}
        </Fact>
        <Fact name="Steps">{run.steps.toLocaleString('en')}</Fact>
        <Fact name="Agents">{agentsText(run)}</Fact>
        {forecast?.run && (
          <Fact name="Usually" about={rangeText(forecast.run, forecast.runs)}>
            {usualText(forecast.run)}
          </Fact>
        )}
        {rest !== undefined && <Fact name="Still needs about">{rest}</Fact>}
        {run.limits.map(({ agent, until }) => (
          <Fact
            key={agent}
            name={agent === null ? 'Usage limit until' : `Usage limit of ${agent} until`}
          >
            {clock(until, now)}
          </Fact>
        ))}
      </dl>
      <nav class="tabs" aria-label="Views of the run" ref={tabs}>
        {TABS.map((tab) => (
          <a
            key={tab}
            href={hashOf({ ...route, tab })}
            aria-current={tab === route.tab ? 'page' : undefined}
          >
            {TAB_NAMES[tab]}
            {tab === 'agents' && <span class="count">{run.agents?.length}</span>}
            {tab === 'states' && <span class="count">{run.states?.length}</span>}
          </a>
        ))}
      </nav>
    </header>
  );
}

/** What the user says about the rights of all steps. */
const RIGHTS = {
  lifted: 'without rights',
  learned: 'learns rights',
  limited: 'limited by your rights',
} as const;

/** When these figures arrived. The time of running steps is added to them. */
function useSince(run: HeadRun): number {
  const seen = useRef({ run, at: Date.now() });
  if (seen.current.run !== run) seen.current = { run, at: Date.now() };
  return seen.current.at;
}

/** What the run is for, and what came of it. Long texts unfold. */
function Purpose({ run: { input, result, result_json: json } }: Pick<Props, 'run'>) {
  return (
    <div class="purposes">
      {input && input.text.trim() !== '' && <Told name="Input" {...input} />}
      {result && result.text.trim() !== '' && <Told name="Result" {...result} json={json} />}
    </div>
  );
}

interface ToldProps extends BoundedText {
  readonly name: string;
  readonly json?: unknown;
}

function Told({ name, text, omitted, json }: ToldProps) {
  const line = oneLine(text, 400);
  if (line === text.trim() && text.length < SHORT)
    return (
      <p class="purpose">
        <span class="faint">{name}</span> <span class="anywhere">{line}</span>
      </p>
    );
  return (
    <details class="purpose">
      <summary>
        <span class="faint">{name}</span> <span class="clip grow">{line}</span>
      </summary>
      <div class="words">
        <Markdown
          text={json === undefined ? text : `\`\`\`json\n${readable(text, json)}\n\`\`\``}
        />
        {omitted > 0 && <p class="faint small">{counted(omitted, 'more character')}</p>}
      </div>
    </details>
  );
}

const SHORT = 110;

const TAB_NAMES: Readonly<Record<Tab, string>> = {
  graph: 'Graph',
  timeline: 'Timeline',
  agents: 'Agents',
  states: 'States',
  log: 'Log',
  steps: 'Steps',
  changes: 'Changes',
};

function agentsText({ agents = [], counts }: HeadRun): string {
  const ready = agents.filter(({ status }) => status.kind === 'ready').length;
  const parts = (['running', 'waiting', 'failed', 'ended'] as const).flatMap((kind) =>
    counts[kind] > 0 ? [`${counts[kind]} ${kind}`] : [],
  );
  // An agent between two steps counts as running while a process works on the run.
  const all = ready > 0 && counts.running === 0 ? [`${ready} ready`, ...parts] : parts;
  return all.length > 0 ? all.join(', ') : 'none';
}

interface FactProps {
  readonly name: string;
  /** Shown when somebody points at it. */
  readonly about?: string;
  readonly children: ComponentChildren;
}

function Fact({ name, about, children }: FactProps) {
  return (
    <div title={about}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The text beside it says the same. */
function Meter({ part }: { readonly part: number }) {
  const tone = part >= 1 ? 'fail' : part >= 0.8 ? 'wait' : 'run';
  return (
    <span class={`meter tone-${tone}`} aria-hidden="true">
      <i style={{ width: `${Math.min(100, part * 100)}%` }} />
    </span>
  );
}

function Acts({ run }: Pick<Props, 'run'>) {
  const tools = useTools();
  const { isSending, send } = useSending((trouble) => addTrouble(tools, trouble, run.id));
  const stop = (now: boolean) =>
    send(async () => {
      await act(tools, run.id, '/stop', { now });
      const done = now
        ? 'The run stops now.'
        : 'The run stops when its running steps have finished.';
      addDone(tools, run.id, done);
    });
  if (run.pid !== null)
    return (
      <Menu
        label="Stop"
        icon="stop"
        isDisabled={isSending}
        items={[
          {
            name: 'Stop gracefully',
            about: `${counted(run.counts.running, 'running step')} may finish. Nothing is lost.`,
            act: () => stop(false),
          },
          {
            name: 'Stop now',
            about: 'Running steps are interrupted. A resume repeats or continues them.',
            act: () => stop(true),
          },
        ]}
      />
    );
  if (run.status === 'completed') return null;
  return (
    <button
      type="button"
      class="button primary"
      onClick={() => tools.dialog.set({ kind: 'resume', run: run.id })}
    >
      <Icon name="play" />
      Resume
    </button>
  );
}
