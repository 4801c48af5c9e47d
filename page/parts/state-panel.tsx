import type { AgentShape, WholeRun } from '../../src/look/run-shape.ts';
import type { StateShape } from '../../src/look/state-shape.ts';
import { useStore } from '../lib/store.ts';
import { useAnswer } from '../lib/use-answer.ts';
import { costText, counted, duration, oneLine, visible } from '../lib/words.ts';
import { agentTold, sortedAgents } from '../stores/agents.ts';
import { usualOf, usualText } from '../stores/forecast.ts';
import { type Chosen, hashOf } from '../stores/route.ts';
import type { RunWatch } from '../stores/run-watch.ts';
import { Panel } from './panel.tsx';
import { agentTone, agentWord, Pill, STEP_TONES } from './status.tsx';

interface Props {
  readonly run: WholeRun;
  readonly watch: RunWatch;
  readonly chosen: Extract<Chosen, { kind: 'state' }>;
  readonly linkTo: (agent: AgentShape) => string;
  readonly onClose: () => void;
}

export function StatePanel({ run, watch, chosen, linkTo, onClose }: Props) {
  const graph = useStore(watch.graph);
  const forecast = useStore(watch.forecast);
  const workflow = chosen.workflow ?? run.workflow;
  const figures = run.states.find((one) => one.state === chosen.state && one.workflow === workflow);
  const usual = workflow === run.workflow ? usualOf(forecast, chosen.state) : undefined;
  const node =
    graph && 'nodes' in graph && workflow === run.workflow
      ? graph.nodes.find(({ state, kind }) => state === chosen.state && kind !== 'reference')
      : undefined;
  const here = sortedAgents(
    run.agents.filter((agent) => agent.state === chosen.state && agent.workflow === workflow),
    '',
  );
  const live = here.filter(({ status }) => !isOver(status));
  return (
    <Panel
      label={`State ${chosen.state}`}
      onClose={onClose}
      head={<h2 class="grow anywhere">{visible(chosen.state)}</h2>}
    >
      {node && <p class="faint small">{node.detail}</p>}
      <dl class="grid">
        <dt>Visits</dt>
        <dd>{figures?.visits ?? 0}</dd>
        <dt>Steps</dt>
        <dd>
          {figures?.steps ?? 0}
          {figures && figures.failures > 0 && `, ${figures.failures} failed`}
        </dd>
        <dt>Time</dt>
        <dd>{duration(figures?.worked_ms ?? 0)}</dd>
        <dt>Cost</dt>
        <dd>{costText(figures ?? { cost_usd: 0 })}</dd>
        {node?.rights !== undefined && (
          <>
            <dt>Rights</dt>
            <dd class="anywhere">{node.rights}</dd>
          </>
        )}
        {usual && forecast && (
          <>
            <dt>Usually</dt>
            <dd>
              {usualText(usual)}
              <span class="faint small hint">
                {counted(Math.round(usual.visits.median), 'visit')}, in {usual.runs} of{' '}
                {counted(forecast.runs, 'completed run')}
              </span>
            </dd>
          </>
        )}
      </dl>
      <h3>
        {live.length > 0 ? `${counted(live.length, 'agent')} here now` : 'No agent is here now'}
      </h3>
      <ul class="rows">
        {here.slice(0, MOST).map((agent) => (
          <li key={agent.id}>
            <a href={linkTo(agent)}>
              <b class="clip">{visible(agent.id)}</b>
              <Pill tone={agentTone(agent.status)}>{agentWord(agent)}</Pill>
              <span class="faint small clip">{agentTold(agent, Date.now(), run.pid !== null)}</span>
            </a>
          </li>
        ))}
      </ul>
      {here.length > MOST && <p class="faint small">{counted(here.length - MOST, 'more agent')}</p>}
      <About run={run} state={chosen.state} workflow={workflow} steps={figures?.steps ?? 0} />
    </Panel>
  );
}

interface AboutProps {
  readonly run: WholeRun;
  readonly state: string;
  readonly workflow: string;
  readonly steps: number;
}

/** The steps in the state, and its text. */
function About({ run, state, workflow, steps }: AboutProps) {
  const query = new URLSearchParams({ state, workflow });
  const path = `/api/runs/${encodeURIComponent(run.id)}/state?${query}`;
  const { value, trouble } = useAnswer<StateShape>(path, steps);
  if (trouble) return <p class="faint small">{trouble.message}</p>;
  if (!value) return <div class="skeleton" style={{ height: '60px' }} aria-busy="true" />;
  return (
    <>
      <h3>
        {value.total > 0 ? `${counted(value.total, 'step')}, the newest first` : 'No steps yet'}
      </h3>
      <ul class="rows steps-here">
        {value.steps.slice(0, MOST).map((row) => (
          <li key={`${row.agent} ${row.step}`}>
            <a href={stepHash(run.id, row)}>
              <span class="clip">
                <b>{visible(row.agent)}</b> step {row.step}
              </span>
              <Pill tone={STEP_TONES[row.status]}>{row.status}</Pill>
              {row.failure !== null && <span class="small clip">{oneLine(row.failure)}</span>}
            </a>
          </li>
        ))}
      </ul>
      {value.source && (
        <details class="fold">
          <summary>{state.endsWith('.md') ? 'Prompt' : 'Script'}</summary>
          <pre class="block">{visible(value.source.text)}</pre>
        </details>
      )}
    </>
  );
}

const stepHash = (run: string, { agent, step }: StateShape['steps'][number]) =>
  hashOf({ kind: 'run', run, tab: 'steps', chosen: { kind: 'agent', agent, step } });

const MOST = 50;

const isOver = (status: AgentShape['status']) =>
  status.kind === 'ended' ||
  status.kind === 'stopped' ||
  (status.kind === 'failed' && status.joined);
