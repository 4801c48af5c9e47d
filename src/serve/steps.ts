/** The conversation of a step, as it was kept and as it happens. */
import { kindOf, knownStep, outcomeForm, stepForm } from '../look/step-form.ts';
import { type StepList, stepRows } from '../look/step-list.ts';
import type { StepKey, StepReader } from '../ports.ts';
import type { FollowedRun } from './followed-run.ts';
import type { FoundRun } from './followed-runs.ts';
import type { EventSource, ServerEvent } from './sse.ts';

export const wholeStep = ({ found, followed }: FoundRun, key: StepKey, steps: StepReader) =>
  stepForm(found.id, knownStep(followed.steps.find(key.agent, key.step), key), steps);

/** The next steps of an agent after a number. A rewind can use a number again, so the newest one counts. */
export function stepsAfter(
  { steps, history }: FollowedRun,
  agent: string,
  after: number,
): StepList {
  const later = steps.of(agent).filter(({ started }) => started.step > after);
  return { steps: stepRows(later.slice(0, MOST_STEPS), history), more: later.length > MOST_STEPS };
}

const MOST_STEPS = 2_000;

interface Live {
  readonly steps: StepReader;
  readonly after: string | undefined;
}

/** Throws a UserError if the step does not exist. */
export function liveStep({ found, followed }: FoundRun, key: StepKey, live: Live): EventSource {
  const find = () => followed.steps.find(key.agent, key.step);
  const kind = kindOf(knownStep(find(), key));
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
    const outcome = outcomeForm(knownStep(find(), key));
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
