import { useEffect, useState } from 'preact/hooks';
import type { Forecast } from '../../src/forecast/forecast.ts';
import { shellWord } from '../../src/model/shell-word.ts';
import type { ListedWorkflow, WorkflowList } from '../../src/serve/shapes/workflows.ts';
import { get, type Trouble, troubleFrom } from '../lib/api.ts';
import { counted, oneLine, visible } from '../lib/words.ts';
import { basisText, rangeText, usualText } from '../stores/forecast.ts';
import { hashOf, type Route } from '../stores/route.ts';
import { descriptionOf, matching, titleOf } from '../stores/workflows.ts';
import { Problem, Search } from './form.tsx';
import { Icon } from './icons.tsx';
import { Panel } from './panel.tsx';
import { StartForm } from './start-form.tsx';
import { Pill } from './status.tsx';
import { useTools } from './tools.ts';

type Chosen = Extract<Route, { kind: 'workflows' }>['chosen'];

/** The workflows of the project. One is chosen, read and started. */
export function WorkflowsPage({ chosen }: { readonly chosen: Chosen }) {
  const tools = useTools();
  const [list, setList] = useState<WorkflowList>();
  const [trouble, setTrouble] = useState<Trouble>();
  const [words, setWords] = useState('');
  const read = () => {
    setTrouble(undefined);
    get<WorkflowList>('/api/workflows').then(setList, (error) => setTrouble(troubleFrom(error)));
  };
  useEffect(read, []);
  useEffect(() => {
    if (chosen === undefined) document.querySelector<HTMLElement>('#workflow-filter')?.focus();
  }, []);
  const shown = matching(list?.workflows ?? [], words);
  const found = list?.workflows.find(({ path }) => path === chosen);
  return (
    <article class="run workflows" aria-label="Workflows">
      <header class="page-head">
        <a class="button quiet only-icon back" href="#/" aria-label="Back to all runs">
          <Icon name="back" />
        </a>
        <h1>Start a run</h1>
        <p class="faint">Choose a workflow of the project.</p>
      </header>
      <div class="work">
        <div class="view">
          <div class="view-tools">
            <Search
              id="workflow-filter"
              placeholder="Filter workflows, or type a path"
              label="Filter workflows by path, title or description, or type a path"
              words={words}
              onWords={setWords}
            />
            {list && (
              <span class="faint" role="status">
                {counted(shown.length, 'workflow')}
                {list.more && ', and more'}
              </span>
            )}
          </div>
          <div class="scroll">
            {trouble && <Unreadable trouble={trouble} onRetry={read} />}
            {!list && !trouble && <Loading />}
            <ul class="workflow-list" aria-label="Workflows">
              {shown.map((workflow) => (
                <li key={workflow.path}>
                  <Row workflow={workflow} isChosen={workflow.path === chosen} />
                </li>
              ))}
            </ul>
            {list && shown.length === 0 && <None words={words} />}
          </div>
        </div>
        {chosen !== undefined && list && (
          <ChosenPanel
            key={chosen}
            path={chosen}
            workflow={found}
            onClose={() => tools.go({ kind: 'workflows', chosen: undefined })}
          />
        )}
      </div>
    </article>
  );
}

const linkTo = (path: string) => hashOf({ kind: 'workflows', chosen: path });

function Row({
  workflow,
  isChosen,
}: {
  readonly workflow: ListedWorkflow;
  readonly isChosen: boolean;
}) {
  const isBroken = workflow.problem !== null;
  return (
    <a
      class="workflow-row"
      href={linkTo(workflow.path)}
      aria-current={isChosen ? 'true' : undefined}
    >
      <span class="line">
        <b class="clip">{oneLine(titleOf(workflow), 120)}</b>
        <code class="clip faint">{visible(workflow.path)}</code>
        <span class="grow" />
        {isBroken ? (
          <Pill tone="fail">cannot be loaded</Pill>
        ) : workflow.fault !== null ? (
          <Pill tone="fail">has errors</Pill>
        ) : (
          <span class="faint small">{counted(workflow.states, 'state')}</span>
        )}
      </span>
      <span class="about faint">{oneLine(descriptionOf(workflow), 400)}</span>
    </a>
  );
}

interface ChosenProps {
  readonly path: string;
  readonly workflow: ListedWorkflow | undefined;
  readonly onClose: () => void;
}

function ChosenPanel({ path, workflow, onClose }: ChosenProps) {
  const title = workflow ? titleOf(workflow) : path;
  const problem = workflow?.problem ?? undefined;
  const loaded = workflow?.problem === null ? workflow : undefined;
  return (
    <Panel
      label={`Workflow ${path}`}
      onClose={onClose}
      head={<h2 class="grow clip">{oneLine(title, 120)}</h2>}
    >
      {loaded?.description && <p class="anywhere described">{visible(loaded.description)}</p>}
      <dl class="grid">
        <dt>Path</dt>
        <dd class="anywhere">
          <code>{visible(path)}</code>
        </dd>
        {loaded && (
          <>
            <dt>States</dt>
            <dd>{loaded.states}</dd>
            <Usual path={path} />
          </>
        )}
      </dl>
      {problem ? (
        <Problem trouble={problem} />
      ) : (
        <>
          {loaded?.fault && (
            <div class="problem anywhere" role="alert">
              <p>{visible(loaded.fault)}</p>
              <p>
                To see all errors: <code class="command">raymond lint {shellWord(path)}</code>
              </p>
            </div>
          )}
          {!workflow && (
            <p class="faint small">The list does not have this path. Raymond tries to load it.</p>
          )}
          <StartForm path={path} workflow={loaded} />
        </>
      )}
    </Panel>
  );
}

/** The forecast is read after the form is shown: the first one reads the runs of the workflow. */
function Usual({ path }: { readonly path: string }) {
  const [forecast, setForecast] = useState<Forecast>();
  useEffect(() => {
    const over = new AbortController();
    const query = new URLSearchParams({ workflow: path });
    get<Forecast>(`/api/forecast?${query}`, over.signal).then(setForecast, () => {});
    return () => over.abort();
  }, [path]);
  return (
    <>
      <dt>Usually</dt>
      <dd>
        {forecast?.run ? (
          <>
            {usualText(forecast.run)}
            <span class="faint small hint">{rangeText(forecast.run, forecast.runs)}</span>
          </>
        ) : (
          <span class="faint">{forecast ? basisText(forecast) : '…'}</span>
        )}
      </dd>
    </>
  );
}

function None({ words }: { readonly words: string }) {
  const typed = words.trim();
  return (
    <div class="empty">
      <Icon name="graph" />
      {typed === '' ? (
        <>
          <h2>No workflow here yet</h2>
          <p>A workflow is a folder with a START prompt or script. To make one:</p>
          <code class="command">raymond init</code>
        </>
      ) : (
        <>
          <h2>No workflow matches</h2>
          <p>A path of the project can be started, too.</p>
          <a class="button" href={linkTo(typed)}>
            Choose {oneLine(typed, 60)}
          </a>
        </>
      )}
    </div>
  );
}

interface UnreadableProps {
  readonly trouble: Trouble;
  readonly onRetry: () => void;
}

function Unreadable({ trouble, onRetry }: UnreadableProps) {
  return (
    <div class="empty" role="alert">
      <Icon name="plug" />
      <h2>{trouble.message}</h2>
      <p>{trouble.remedy}</p>
      <button type="button" class="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

function Loading() {
  return (
    <div aria-busy="true">
      {[1, 2, 3].map((row) => (
        <div key={row} class="workflow-row">
          <div class="skeleton" style={{ height: '18px', width: '40%' }} />
          <div class="skeleton" style={{ height: '13px', width: '70%' }} />
        </div>
      ))}
    </div>
  );
}
