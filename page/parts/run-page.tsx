import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { AgentShape, StoredRow, WholeRun } from '../../src/look/run-shape.ts';
import { useStore } from '../lib/store.ts';
import { counted } from '../lib/words.ts';
import { shortName } from '../stores/agents.ts';
import { hashOf, NOTHING, type Route } from '../stores/route.ts';
import { RunWatch } from '../stores/run-watch.ts';
import { AgentPanel } from './agent-panel.tsx';
import { AgentsView } from './agents-view.tsx';
import { ChangesView } from './changes-view.tsx';
import { GraphView } from './graph-view.tsx';
import { Icon } from './icons.tsx';
import { LogView } from './log-view.tsx';
import { Needs } from './needs.tsx';
import { RewoundNotice } from './rewound-notice.tsx';
import { type HeadRun, RunHead } from './run-head.tsx';
import { StatePanel } from './state-panel.tsx';
import { StatesView } from './states-view.tsx';
import { StepsView } from './steps-view.tsx';
import { TimelineView } from './timeline-view.tsx';
import { useTools } from './tools.ts';
import { Warnings } from './warnings.tsx';

type RunRoute = Extract<Route, { kind: 'run' }>;

export function RunPage({ route }: { readonly route: RunRoute }) {
  // Not in an effect: the run is asked for before anything is drawn. The page has one of these per run.
  const { runs } = useTools();
  const [watch] = useState(() => new RunWatch(route.run, runs));
  // An effect after the drawing would be left out if the page leaves the run before it.
  useLayoutEffect(() => () => watch.end(), [watch]);
  return <Watched watch={watch} route={route} />;
}

interface Props {
  readonly watch: RunWatch;
  readonly route: RunRoute;
}

function Watched({ watch, route }: Props) {
  const tools = useTools();
  const run = useStore(watch.run);
  const connection = useStore(watch.connection);
  // The list of runs has the head of the run before its history is read.
  const row = useStore(tools.runs.runs)?.find(({ id }) => id === route.run);
  const listed = row === undefined || row.status === 'damaged' ? undefined : row;
  const head = run ?? (listed && headOf(listed));
  // The list changes more often than the run.
  const work = useMemo(
    () => run && <Work watch={watch} route={route} run={run} />,
    [watch, route, run],
  );
  if (!run && connection.kind === 'refused') {
    const { trouble } = connection;
    return (
      <div class="empty" role="alert">
        <Icon name="warning" />
        <h2>{trouble.message}</h2>
        <p>{trouble.remedy}</p>
        <button type="button" class="button" onClick={() => watch.reconnect()}>
          Try again
        </button>
      </div>
    );
  }
  if (!head)
    return (
      <div class="run-head" aria-busy="true">
        <div class="skeleton" style={{ height: '26px', width: '240px' }} />
        <div class="skeleton" style={{ height: '14px', width: '60%', margin: '10px 0 56px' }} />
        <RunTrouble watch={watch} />
      </div>
    );
  // What has the focus keeps it when the history arrives, so the parts above the history stay the same.
  return (
    <article class="run" aria-label={`Run ${head.id}`} aria-busy={!run}>
      <RunHead run={head} watch={watch} route={route} />
      <RunTrouble watch={watch} />
      <Warnings run={head.id} />
      {work ?? (
        <div class="empty">
          <p role="status">Reading {counted(listed?.position ?? 0, 'event')}</p>
        </div>
      )}
    </article>
  );
}

function headOf({ agents: counts, ...head }: StoredRow): HeadRun {
  return { ...head, counts };
}

function Work({ watch, route, run }: Props & { readonly run: WholeRun }) {
  const tools = useTools();
  const choose = (chosen: RunRoute['chosen']) => tools.go({ ...route, chosen });
  const chooseAgent = (agent: string, step?: number) => choose({ kind: 'agent', agent, step });
  const linkTo = (agent: AgentShape) =>
    hashOf({ ...route, chosen: { kind: 'agent', agent: agent.id, step: undefined } });
  const { chosen, tab } = route;
  // These views are about an agent, so they need no panel for it.
  const isAbout = tab === 'steps' || tab === 'changes';
  const chooseAbout = (agent: string | undefined, step?: number) =>
    choose(agent === undefined ? NOTHING : { kind: 'agent', agent, step });
  const [first] = run.agents;
  const about =
    (chosen.kind === 'agent' && run.agents.find(({ id }) => id === chosen.agent)) || first;
  const names = useMemo(
    () => new Map(run.agents.map((agent) => [agent.id, shortName(agent)])),
    [run.agents.length],
  );
  const close = () => choose(NOTHING);
  return (
    <>
      <RewoundNotice run={run} />
      <div class="work">
        <div class="view">
          <Needs
            run={run}
            preferred={chosen.kind === 'agent' ? chosen.agent : undefined}
            onChoose={chooseAgent}
          />
          <div class="pane">
            {tab === 'graph' && (
              <GraphView
                watch={watch}
                chosen={chosen}
                waiting={waitingIn(run)}
                names={names}
                onState={(state) => choose({ kind: 'state', state, workflow: undefined })}
                onAgent={chooseAgent}
              />
            )}
            {tab === 'timeline' && <TimelineView run={run} chosen={chosen} onStep={chooseAgent} />}
            {tab === 'agents' && <AgentsView run={run} chosen={chosen} linkTo={linkTo} />}
            {tab === 'states' && (
              <StatesView
                run={run}
                watch={watch}
                onState={({ state, workflow }) => choose({ kind: 'state', state, workflow })}
              />
            )}
            {tab === 'steps' && about && (
              <StepsView
                key={about.id}
                run={run}
                agent={about}
                step={chosen.kind === 'agent' ? chosen.step : undefined}
                onChoose={chooseAbout}
              />
            )}
            {tab === 'changes' && <ChangesView run={run} chosen={chosen} onChoose={chooseAbout} />}
            {tab === 'log' && <LogView watch={watch} onAgent={chooseAgent} />}
          </div>
        </div>
        {chosen.kind === 'agent' && !isAbout && (
          <AgentPanel
            key={chosen.agent}
            run={run}
            chosen={chosen}
            onChoose={chooseAgent}
            onClose={close}
          />
        )}
        {chosen.kind === 'state' && (
          <StatePanel run={run} watch={watch} chosen={chosen} linkTo={linkTo} onClose={close} />
        )}
      </div>
    </>
  );
}

/** The run itself can no longer be read. The rest of the page is not affected. */
function RunTrouble({ watch }: Pick<Props, 'watch'>) {
  const connection = useStore(watch.connection);
  if (connection.kind !== 'refused') return null;
  return (
    <div class="notice tone-fail" role="alert">
      <Icon name="warning" />
      <p class="grow">
        <b>{connection.trouble.message}</b> {connection.trouble.remedy}
      </p>
    </div>
  );
}

/** The agents that wait for a permission. */
function waitingIn({ agents }: WholeRun): ReadonlySet<string> {
  return new Set(
    agents.flatMap(({ id, status }) =>
      status.kind === 'running' && status.requests.some(({ answered }) => !answered) ? [id] : [],
    ),
  );
}
