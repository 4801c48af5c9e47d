/** A step of a run with its conversation, in the form that all doors use. */
import type { StepFacts } from '../history/steps.ts';
import { laneName } from '../model/agent.ts';
import { bounded } from '../model/bounded-text.ts';
import { isEstimate } from '../model/estimate.ts';
import type { StepLane } from '../model/event.ts';
import { UserError } from '../model/user-error.ts';
import type { StepKey, StepReader } from '../ports.ts';
import { iso } from './run-form.ts';
import type { StepOutcomeShape, StepShape } from './step-shape.ts';

export async function stepForm(
  run: string,
  facts: StepFacts,
  steps: StepReader,
): Promise<StepShape> {
  const { started, workflow } = facts;
  const { agent, step } = started;
  const kind = kindOf(facts);
  const { told, messages, omitted, cursor, isKept } = await steps.read(run, { agent, step }, kind);
  return {
    run,
    agent,
    step,
    state: started.state,
    workflow,
    task: started.task,
    attempt: started.attempt,
    kind,
    executor: started.executor ?? null,
    lane: laneForm(started.lane),
    session: started.session?.id ?? null,
    rights: started.rights ?? null,
    started_at: iso(started.at),
    prompt: told === undefined ? null : bounded(told, MOST_TOLD),
    messages,
    omitted,
    cursor: Number(cursor),
    kept: isKept,
    outcome: outcomeForm(facts),
  };
}

function laneForm(lane: StepLane | undefined): StepShape['lane'] {
  if (!lane) return null;
  const passed = (lane.passed ?? []).map((one) => ({ ...one, until: iso(one.until) }));
  return { name: laneName(lane), passed };
}

const MOST_TOLD = 200_000;

/** Throws a UserError if the step does not exist. */
export function knownStep(facts: StepFacts | undefined, { agent, step }: StepKey): StepFacts {
  if (facts) return facts;
  throw new UserError(
    'not-found',
    `The run has no step ${step} of an agent ${agent.slice(0, 200)}.`,
    'To see the steps of a run: raymond show RUN --steps',
  );
}

export const kindOf = ({ started }: StepFacts) => (started.session ? 'prompt' : 'script');

export function outcomeForm({ ended, followed }: StepFacts): StepOutcomeShape | null {
  if (!ended) return null;
  const isEnd = ended.type === 'step-ended';
  return {
    kind: isEnd ? 'ended' : ended.type === 'step-failed' ? 'failed' : 'interrupted',
    at: iso(ended.at),
    cost_usd: ended.cost.usd,
    ...(isEstimate(ended.cost) && { cost_is_estimate: true as const }),
    usage: ended.usage ?? null,
    model: ended.model ?? null,
    failure: ended.type === 'step-failed' ? ended.failure : null,
    exit: isEnd ? (ended.exit ?? null) : null,
    denied: isEnd ? ended.denied : [],
    refused: ended.refused ?? [],
    followed,
  };
}
