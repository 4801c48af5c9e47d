/** The conversation of a step, as it was kept and as it happens. */
import type { StepFacts } from '../history/steps.ts';
import { iso } from '../look/run-form.ts';
import { bounded } from '../model/bounded-text.ts';
import { isEstimate } from '../model/estimate.ts';
import type { StepKey, StepReader } from '../ports.ts';
import type { FoundRun } from './followed-runs.ts';
import { notFound } from './problems.ts';
import type { StepOutcomeShape, StepShape } from './shapes/step.ts';
import type { EventSource, ServerEvent } from './sse.ts';

export async function wholeStep(
  { found, followed }: FoundRun,
  key: StepKey,
  steps: StepReader,
): Promise<StepShape> {
  const facts = factsOf(followed.steps.find(key.agent, key.step), key);
  const kind = kindOf(facts);
  const { told, messages, omitted, cursor, isKept } = await steps.read(found.id, key, kind);
  const { started, workflow } = facts;
  const outcome = outcomeOf(facts);
  return {
    run: found.id,
    agent: key.agent,
    step: key.step,
    state: started.state,
    workflow,
    task: started.task,
    attempt: started.attempt,
    kind,
    executor: started.executor ?? null,
    session: started.session?.id ?? null,
    started_at: iso(started.at),
    prompt: told === undefined ? null : bounded(told, MOST_TOLD),
    messages,
    omitted,
    cursor: Number(cursor),
    kept: isKept,
    outcome,
  };
}

const MOST_TOLD = 200_000;

function factsOf(facts: StepFacts | undefined, { agent, step }: StepKey): StepFacts {
  if (facts) return facts;
  const what = `The run has no step ${step} of an agent ${agent.slice(0, 200)}.`;
  throw notFound(what, 'The run has its agents and the number of their steps.');
}

const kindOf = ({ started }: StepFacts) => (started.session ? 'prompt' : 'script');

function outcomeOf({ ended, followed }: StepFacts): StepOutcomeShape | null {
  if (!ended) return null;
  const isEnd = ended.type === 'step-ended';
  return {
    kind: isEnd ? 'ended' : ended.type === 'step-failed' ? 'failed' : 'interrupted',
    at: iso(ended.at),
    cost_usd: ended.cost.usd,
    ...(isEstimate(ended.cost) && { cost_is_estimate: true as const }),
    usage: ended.usage ?? null,
    failure: ended.type === 'step-failed' ? ended.failure : null,
    exit: isEnd ? (ended.exit ?? null) : null,
    denied: isEnd ? ended.denied : [],
    followed,
  };
}

interface Live {
  readonly steps: StepReader;
  readonly after: string | undefined;
}

/** Throws a UserError if the step does not exist. */
export function liveStep({ found, followed }: FoundRun, key: StepKey, live: Live): EventSource {
  const find = () => followed.steps.find(key.agent, key.step);
  const kind = kindOf(factsOf(find(), key));
  return async function* (signal) {
    const until = whenOver(
      signal,
      (ring) => followed.onChange(ring),
      () => {
        return find()?.ended !== undefined || followed.trouble !== undefined;
      },
    );
    const news = live.steps.follow(found.id, key, kind, { after: live.after, until });
    yield* events(news);
    // The records of a step may be complete before its end is in the journal.
    await until;
    const outcome = outcomeOf(factsOf(find(), key));
    if (outcome) yield { event: 'outcome', data: outcome };
  };
}

/** Resolves when the step is over, or when the client has left. */
function whenOver(
  signal: AbortSignal,
  onChange: (act: () => void) => () => void,
  isOver: () => boolean,
): Promise<void> {
  return new Promise((resolve) => {
    let end = () => {};
    const look = () => {
      if (!signal.aborted && !isOver()) return;
      end();
      resolve();
    };
    end = onChange(look);
    signal.addEventListener('abort', look, { once: true });
    look();
  });
}

async function* events(news: ReturnType<StepReader['follow']>): AsyncGenerator<ServerEvent> {
  for await (const one of news)
    yield one.kind === 'messages'
      ? { id: one.cursor, data: one.messages }
      : { event: 'partial', data: { text: one.text } };
}
