/** Looks at one run. Nothing changes, so what is noticed is part of what is given. */
import { RunHistory } from '../history/run-history.ts';
import { Steps } from '../history/steps.ts';
import { followEvents } from '../host/follow-run.ts';
import { openRun } from '../host/open-run.ts';
import { openByKind, type SavedWords, savedWords } from '../host/questions.ts';
import {
  type ContextShape,
  contextForm,
  type ReadStep,
  sessionSteps,
} from '../look/context-form.ts';
import { kindOf, knownStep, stepForm } from '../look/step-form.ts';
import type { StepShape } from '../look/step-shape.ts';
import { isStepEnd } from '../model/event-kinds.ts';
import { type Notice, warnings } from '../model/notice.ts';
import type { Run } from '../model/run.ts';
import { UserError } from '../model/user-error.ts';
import type { EachEvent, RunStore, StepKey, StepNews, StoredRun } from '../ports.ts';
import type { Surroundings } from '../world/surroundings.ts';
import type { World } from '../world/world.ts';

interface Looking extends Pick<Surroundings, 'store' | 'clock'> {
  readonly world: Pick<World, 'lostTrees'>;
}

export interface LookedAt extends Awaited<ReturnType<typeof standing>> {
  readonly found: StoredRun;
  /** The time up to which open steps last. */
  readonly at: number;
  readonly notices: readonly Notice[];
  /** What was said to its agents, and the run has not taken yet. */
  readonly saved: readonly SavedWords[];
}

/** A run, and everything about it that is no event. Throws a UserError if it cannot be read. */
export async function look(
  { store, clock, world }: Looking,
  id: string,
  each?: EachEvent,
): Promise<LookedAt> {
  const found = await openRun(store, id, each);
  const { run } = found;
  return {
    found,
    ...(await standing(store, run)),
    at: lastMoment(found, clock.now()),
    notices: warnings(await world.lostTrees(run)),
    saved: await savedWords(store, run),
  };
}

/** A step with its conversation, and the checks that belong to it. */
export interface LookedAtStep {
  readonly step: StepShape;
  readonly checks: readonly StepShape[];
  /** The directory of the agent at that time. */
  readonly cwd?: string | undefined;
  /** It was taken back by a rewind. */
  readonly isAbandoned: boolean;
}

/** Throws a UserError if the run or the step does not exist. */
export async function lookAtStep(
  { store, world }: Pick<Surroundings, 'store' | 'world'>,
  id: string,
  key: StepKey,
): Promise<LookedAtStep> {
  const steps = new Steps();
  const history = new RunHistory();
  let cwd: string | undefined;
  await openRun(store, id, (event, _, after) => {
    steps.follow(event, after);
    history.follow(event, after);
    if (event.type === 'step-started' && event.agent === key.agent && event.step === key.step)
      cwd = after.agents.get(key.agent)?.cwd;
  });
  const facts = knownStep(steps.find(key.agent, key.step), key);
  const reader = await world.steps();
  const checks: StepShape[] = [];
  for (let step = key.step + 1; ; step++) {
    const next = steps.find(key.agent, step);
    if (next?.started.task !== 'check') break;
    checks.push(await stepForm(id, next, reader));
  }
  return {
    step: await stepForm(id, facts, reader),
    checks,
    cwd,
    isAbandoned: history.isAbandoned(facts.started),
  };
}

/** What the model saw at the end of a step. Throws a UserError if the step does not exist or is a script. */
export async function lookAtContext(
  { store, world }: Pick<Surroundings, 'store' | 'world'>,
  id: string,
  key: StepKey,
): Promise<ContextShape> {
  const steps = new Steps();
  const handovers = new Map<string, string>();
  await openRun(store, id, (event, _, after) => {
    steps.follow(event, after);
    const session = event.type === 'step-started' && after.agents.get(event.agent)?.session;
    if (session && session.kind === 'none' && session.handover !== undefined)
      handovers.set(`${event.agent}:${event.step}`, session.handover);
  });
  const facts = knownStep(steps.find(key.agent, key.step), key);
  if (kindOf(facts) === 'script')
    throw new UserError(
      'not-found',
      `${key.agent}:${key.step} is a script, so no model saw anything.`,
      'Name the step of a prompt. To see the steps of a run: raymond show RUN --steps',
    );
  const reader = await world.steps();
  const read: ReadStep[] = [];
  for (const one of sessionSteps(steps, facts)) {
    const { agent, step } = one.started;
    const { told, messages } = await reader.read(id, { agent, step }, 'prompt');
    read.push({ facts: one, told, messages, handover: handovers.get(`${agent}:${step}`) });
  }
  return contextForm(id, read);
}

/**
 * The messages of a step that is not over, after a position, until it is. A caller that follows the run
 * itself says when: `isOver`.
 */
export async function* followStep(
  around: Pick<Surroundings, 'store' | 'world' | 'clock'>,
  { run, agent, step, kind, cursor }: StepShape,
  isOver?: Promise<unknown>,
): AsyncGenerator<StepNews> {
  const reader = await around.world.steps();
  const left = new AbortController();
  const until = (async () => {
    if (isOver) return isOver;
    for await (const event of attend(around, run, { signal: left.signal }))
      if (isStepEnd(event) && event.agent === agent && event.step === step) return;
  })();
  try {
    yield* reader.follow(run, { agent, step }, kind, { after: String(cursor), until });
  } finally {
    left.abort();
    await until.catch(() => {});
  }
}

/** The facts about a run that are no events. */
export async function standing(store: RunStore, run: Run) {
  const owner = await store.owner(run.id);
  const [open, now] = await Promise.all([openByKind(store, run), owner && store.now(run.id)]);
  return { owner, ...open, now };
}

/** Without a process, nothing has happened since the newest event. */
export const lastMoment = ({ owner, run }: Pick<StoredRun, 'owner' | 'run'>, now: number) =>
  owner ? Math.max(now, run.updatedAt) : run.updatedAt;

/** The events of a run after a position, and then each new one, until no process works on the run. */
export const attend = (
  around: Pick<Looking, 'store' | 'clock'>,
  id: string,
  options: { readonly after?: number | undefined; readonly signal?: AbortSignal | undefined } = {},
) => followEvents(around, id, options);
