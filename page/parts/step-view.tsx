import { useEffect, useState } from 'preact/hooks';
import type { AgentShape, WholeRun } from '../../src/look/run-shape.ts';
import type { StepOutcomeShape } from '../../src/look/step-shape.ts';
import { takerText } from '../../src/model/limits.ts';
import { refusedText, remedyFor, rightsText } from '../../src/model/rights-text.ts';
import { useNow } from '../lib/hooks.ts';
import { useStore } from '../lib/store.ts';
import { costText, duration, elapsed, msOf, oneLine, visible } from '../lib/words.ts';
import { rewindTo } from '../stores/rewind.ts';
import { StepWatch, type WatchedStep } from '../stores/step-watch.ts';
import { ContextView } from './context-view.tsx';
import { Conversation, type StepNow } from './conversation.tsx';
import { Icon } from './icons.tsx';
import { RewindButton } from './rewind-button.tsx';

interface Props {
  readonly run: WholeRun;
  readonly agent: AgentShape;
  readonly step: number;
}

export function StepView({ run, agent, step }: Props) {
  const [watch, setWatch] = useState<StepWatch>();
  useEffect(() => {
    const next = new StepWatch(run.id, agent.id, step);
    setWatch(next);
    return () => next.end();
  }, [run.id, agent.id, step]);
  return watch ? <Watched watch={watch} run={run} agent={agent} step={step} /> : null;
}

function Watched({ watch, run, agent, step: number }: Props & { readonly watch: StepWatch }) {
  const step = useStore(watch.step);
  const trouble = useStore(watch.trouble);
  const connection = useStore(watch.connection);
  if (trouble && !step)
    return (
      <div class="problem" role="alert">
        <p>{trouble.message}</p>
        <p>{trouble.remedy}</p>
        <button type="button" class="button" onClick={() => watch.read()}>
          Try again
        </button>
      </div>
    );
  if (!step) return <div class="skeleton" style={{ height: '120px' }} aria-busy="true" />;
  const isAway = connection.kind === 'lost' || connection.kind === 'signed-out';
  const isLost = isAway && step.outcome === null;
  return (
    <section class="step" aria-label={`Step ${number}`}>
      <StepHead step={step} />
      {isLost && (
        <p class="notice tone-wait small" role="status">
          <Icon name="plug" /> The connection is lost, not the agent. The rest follows when it is
          back.
        </p>
      )}
      <Conversation step={step} now={nowOf(run, agent)} />
      {step.outcome && (
        <Outcome outcome={step.outcome} agent={agent} step={number} state={visible(step.state)} />
      )}
      {step.kind === 'prompt' && step.outcome && <ContextView step={step} />}
      {run.pid === null && (
        <RewindButton run={run.id} rewind={rewindTo(run, agent, step)}>
          <Icon name="rewind" />
          Rewind to before this step
        </RewindButton>
      )}
    </section>
  );
}

/** What a step without an outcome does. */
function nowOf({ pid }: WholeRun, { status }: AgentShape): StepNow {
  if (status.kind === 'running' && status.requests.some(({ answered }) => !answered))
    return 'waits';
  return pid === null ? 'rests' : 'works';
}

function StepHead({ step }: { readonly step: WatchedStep }) {
  const isLive = step.outcome === null;
  const now = useNow(isLive ? 1_000 : undefined);
  const length = (step.outcome ? msOf(step.outcome.at) : now) - msOf(step.started_at);
  const parts = [
    step.kind,
    ...(step.task === 'state' ? [] : [step.task]),
    ...(step.lane ? [`by ${visible(takerText(step.lane.name, step.lane.passed))}`] : []),
    ...(step.attempt > 1 ? [`attempt ${step.attempt}`] : []),
    isLive ? `running for ${elapsed(length)}` : duration(length),
    ...(step.outcome && step.outcome.cost_usd > 0 ? [costText(step.outcome)] : []),
  ];
  return (
    <p class="step-head">
      <b class="anywhere">{visible(step.state)}</b> <span class="faint">{parts.join(' · ')}</span>
      {step.rights && (
        <span class="faint small anywhere"> · may {oneLine(rightsText(step.rights), 300)}</span>
      )}
    </p>
  );
}

interface OutcomeProps {
  readonly outcome: StepOutcomeShape;
  readonly agent: AgentShape;
  readonly step: number;
  readonly state: string;
}

/** An answer without a usable tag ends the step well, and fails the agent. */
function Outcome({ outcome, agent, step, state }: OutcomeProps) {
  const { kind, denied, refused, usage } = outcome;
  const after =
    kind === 'ended' && agent.status.kind === 'failed' && step === agent.steps
      ? agent.status.failure
      : undefined;
  const failure = outcome.failure ?? after;
  const tone = failure || kind === 'failed' ? 'fail' : kind === 'ended' ? 'done' : 'wait';
  const words = after
    ? 'The step ended, and the agent failed.'
    : kind === 'ended'
      ? 'The step ended.'
      : kind === 'failed'
        ? 'The step failed.'
        : 'Interrupted.';
  return (
    <div class={`outcome tone-${tone}`}>
      <p>
        <b>{words}</b> {failure && <span class="anywhere">{oneLine(failure.message, 600)}</span>}
        {outcome.exit !== null && `Exit code ${outcome.exit}.`}
      </p>
      {denied.length > 0 && (
        <p class="small anywhere">Denied: {denied.map((call) => oneLine(call)).join(', ')}</p>
      )}
      {refused.length > 0 && (
        <p class="small anywhere">
          The sandbox refused: {oneLine(refusedText(refused), 600)}. {remedyFor(refused, state)}
        </p>
      )}
      {usage && <p class="faint small">{usageText(usage)}</p>}
    </div>
  );
}

/** `9,120 tokens read, 40,000 of them from the cache, and 1,480 written`. */
function usageText(usage: NonNullable<StepOutcomeShape['usage']>): string {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const part = (count: number, words: string) =>
    count > 0 ? [`${count.toLocaleString('en')} ${words}`] : [];
  return [
    ...part(inputTokens + cacheReadTokens + cacheWriteTokens, 'tokens read'),
    ...part(cacheReadTokens, 'of them from the cache'),
    ...part(cacheWriteTokens, 'of them kept in the cache'),
    ...part(outputTokens, 'tokens written'),
  ].join(', ');
}
