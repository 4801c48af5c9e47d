import { useState } from 'preact/hooks';
import type { AgentShape, WholeRun } from '../../src/look/run-shape.ts';
import { costText, counted, duration, lastName, oneLine, readable, visible } from '../lib/words.ts';
import { agentTold, variablesText } from '../stores/agents.ts';
import { type Chosen, hashOf } from '../stores/route.ts';
import { grownAgent, spentByAgent } from '../stores/spent.ts';
import { Icon } from './icons.tsx';
import { Panel } from './panel.tsx';
import { SayForm } from './say-form.tsx';
import { agentTone, agentWord, Pill } from './status.tsx';
import { StepView } from './step-view.tsx';

interface Props {
  readonly run: WholeRun;
  readonly chosen: Extract<Chosen, { kind: 'agent' }>;
  readonly onChoose: (agent: string, step?: number) => void;
  readonly onClose: () => void;
}

export function AgentPanel({ run, chosen, onChoose, onClose }: Props) {
  const agent = run.agents.find(({ id }) => id === chosen.agent);
  if (!agent)
    return (
      <Panel label="Agent" onClose={onClose} head={<h2 class="grow">{visible(chosen.agent)}</h2>}>
        <div class="empty">
          <p>The run has no agent with this name. Choose one in “Agents”.</p>
        </div>
      </Panel>
    );
  return <Known run={run} agent={agent} step={chosen.step} onChoose={onChoose} onClose={onClose} />;
}

interface KnownProps extends Pick<Props, 'run' | 'onChoose' | 'onClose'> {
  readonly agent: AgentShape;
  readonly step: number | undefined;
}

function Known({ run, agent, step: wanted, onChoose, onClose }: KnownProps) {
  // A reader stays at the step that they opened, also when the agent begins the next one.
  const [first, setFirst] = useState(agent.steps);
  if (first === 0 && agent.steps > 0) setFirst(agent.steps);
  const step = Math.min(wanted ?? first, agent.steps);
  const chosen = { kind: 'agent', agent: agent.id, step: wanted } as const;
  const cost = grownAgent(agent, spentByAgent(run));
  return (
    <Panel
      label={`Agent ${agent.id}`}
      onClose={onClose}
      head={
        <>
          <h2 class="clip">{visible(agent.id)}</h2>
          <Pill tone={agentTone(agent.status)}>{agentWord(agent)}</Pill>
          <span class="grow" />
        </>
      }
    >
      <Facts agent={agent} cost={cost} onChoose={onChoose} />
      {!OVER.includes(agent.status.kind) && (
        <SayForm key={agent.id} run={run.id} agent={agent.id} />
      )}
      {agent.steps > 0 ? (
        <>
          <nav class="about-links" aria-label="More about the agent">
            {(['steps', 'changes'] as const).map((tab) => (
              <a key={tab} href={hashOf({ kind: 'run', run: run.id, tab, chosen })}>
                {tab === 'steps' ? 'All steps and the whole conversation' : 'Changed files'}
              </a>
            ))}
          </nav>
          <Stepper agent={agent} step={step} onStep={(next) => onChoose(agent.id, next)} />
          <StepView key={`${agent.id} ${step}`} run={run} agent={agent} step={step} />
        </>
      ) : (
        <p class="faint">It has not started a step yet.</p>
      )}
    </Panel>
  );
}

/** It gets no more prompts. */
const OVER: readonly string[] = ['ended', 'stopped', 'rewound'];

function Facts({
  agent,
  cost,
  onChoose,
}: {
  readonly agent: AgentShape;
  readonly cost: Pick<AgentShape, 'cost_usd' | 'cost_is_estimate'>;
  readonly onChoose: Props['onChoose'];
}) {
  const { parent, status } = agent;
  return (
    <>
      <dl class="grid">
        <dt>State</dt>
        <dd class="anywhere">
          {visible(agent.state)} <span class="faint">of {lastName(agent.workflow)}</span>
        </dd>
        {status.kind !== 'running' && status.kind !== 'ended' && (
          <>
            <dt>Now</dt>
            <dd class={`anywhere tone-${agentTone(status)}`}>
              <span class="told">{agentTold(agent, Date.now())}</span>
            </dd>
          </>
        )}
        {agent.stack.length > 0 && (
          <>
            <dt>Returns to</dt>
            <dd>
              <ol class="stack">
                {agent.stack.toReversed().map((frame, index) => (
                  <li key={index}>
                    {visible(frame.state)}
                    {frame.workflow !== agent.workflow && (
                      <span class="faint"> of {lastName(frame.workflow)}</span>
                    )}
                  </li>
                ))}
              </ol>
            </dd>
          </>
        )}
        {parent !== null && (
          <>
            <dt>Forked by</dt>
            <dd>
              <button type="button" class="link" onClick={() => onChoose(parent)}>
                {visible(parent)}
              </button>
            </dd>
          </>
        )}
        {Object.keys(agent.variables).length > 0 && (
          <>
            <dt>Variables</dt>
            <dd class="anywhere">
              <code>{variablesText(agent)}</code>
            </dd>
          </>
        )}
        {agent.worktree && (
          <>
            <dt>Branch</dt>
            <dd class="anywhere">
              <Icon name="branch" /> <code>{oneLine(agent.worktree.branch)}</code>
              {agent.worktree.commits !== null && `, ${counted(agent.worktree.commits, 'commit')}`}
              {agent.worktree.dirty && ', uncommitted work'}
            </dd>
          </>
        )}
        {agent.words && (
          <>
            <dt>{status.kind === 'ended' ? 'Never heard' : 'Not heard yet'}</dt>
            <dd class="anywhere">
              {agent.words.map((one) => (
                <p key={one.said_at}>{visible(one.text.text)}</p>
              ))}
            </dd>
          </>
        )}
        <dt>Used</dt>
        <dd>
          {counted(agent.steps, 'step')}, {duration(agent.worked_ms)}, {costText(cost)}
        </dd>
      </dl>
      {status.kind === 'ended' && (
        <details class="fold" open={status.result.text.length < 400}>
          <summary>Result</summary>
          <blockquote class="words">
            {visible(readable(status.result.text, status.result_json)) || 'empty'}
          </blockquote>
          {status.result.omitted > 0 && (
            <p class="faint small">{counted(status.result.omitted, 'more character')}</p>
          )}
        </details>
      )}
    </>
  );
}

interface StepperProps {
  readonly agent: AgentShape;
  readonly step: number;
  readonly onStep: (step: number) => void;
}

function Stepper({ agent, step, onStep }: StepperProps) {
  return (
    <nav class="stepper" aria-label="Steps of the agent">
      <button
        type="button"
        class="button only-icon"
        aria-label="Earlier step"
        disabled={step <= 1}
        onClick={() => onStep(step - 1)}
      >
        <Icon name="back" />
      </button>
      <span>
        Step <b>{step}</b> of {agent.steps}
      </span>
      <button
        type="button"
        class="button only-icon"
        aria-label="Later step"
        disabled={step >= agent.steps}
        onClick={() => onStep(step + 1)}
      >
        <Icon name="forward" />
      </button>
      <span class="grow" />
      {step < agent.steps && (
        <button type="button" class="button quiet" onClick={() => onStep(agent.steps)}>
          Newest step
        </button>
      )}
    </nav>
  );
}
