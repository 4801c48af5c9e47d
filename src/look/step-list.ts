/** The steps of a run or of an agent, one row each. */
import * as z from 'zod/mini';
import type { RunHistory } from '../history/run-history.ts';
import type { StepFacts } from '../history/steps.ts';
import { laneName } from '../model/agent.ts';
import { taskKindSchema } from '../model/agent-state.ts';
import { isEstimate as isPriced } from '../model/estimate.ts';
import type { StepEndEvent } from '../model/event.ts';
import { count, isEstimate, listOf, orNull, text, time, usd } from './common.ts';
import { iso } from './run-form.ts';
import { kindOf } from './step-form.ts';

export const stepRow = z.object({
  agent: text,
  step: count,
  state: text,
  workflow: text,
  task: taskKindSchema,
  kind: z.enum(['prompt', 'script']),
  lane: orNull(text).check(z.describe('Who took it, if its state has several lanes.')),
  started_at: time,
  ended_at: orNull(time),
  cost_usd: usd,
  cost_is_estimate: isEstimate,
  status: z.enum(['ended', 'failed', 'interrupted', 'not over']),
  failure: orNull(text),
  abandoned: z.boolean().check(z.describe('A rewind took it back.')),
});

export const stepList = z.object({
  steps: listOf(stepRow).check(z.describe('In their order, at most 2,000.')),
  more: z.boolean().check(z.describe('Whether the agent has further steps.')),
});

export type StepRow = z.infer<typeof stepRow>;
export type StepList = z.infer<typeof stepList>;

export function stepRows(
  steps: readonly StepFacts[],
  history: Pick<RunHistory, 'isAbandoned'>,
): readonly StepRow[] {
  return steps.map((facts) => {
    const { started, ended, workflow } = facts;
    return {
      agent: started.agent,
      step: started.step,
      state: started.state,
      workflow,
      task: started.task,
      kind: kindOf(facts),
      lane: started.lane ? laneName(started.lane) : null,
      started_at: iso(started.at),
      ended_at: ended ? iso(ended.at) : null,
      cost_usd: ended?.cost.usd ?? 0,
      ...(ended && isPriced(ended.cost) && { cost_is_estimate: true as const }),
      status: ended ? ENDS[ended.type] : 'not over',
      failure: ended?.type === 'step-failed' ? ended.failure.message.slice(0, MOST_WORDS) : null,
      abandoned: history.isAbandoned(started),
    };
  });
}

/** A row shows the beginning. The step itself has the whole. */
const MOST_WORDS = 300;

const ENDS: Readonly<Record<StepEndEvent['type'], StepRow['status']>> = {
  'step-ended': 'ended',
  'step-failed': 'failed',
  'step-interrupted': 'interrupted',
};
