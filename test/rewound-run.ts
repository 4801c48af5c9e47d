/** Rewinds of a run under test. */
import { apply } from '../src/interpret/apply.ts';
import { interpret } from '../src/interpret/interpret.ts';
import { newRun } from '../src/interpret/new-run.ts';
import { Past } from '../src/interpret/past.ts';
import { type PlannedRewind, planRewind } from '../src/interpret/plan-rewind.ts';
import type { JournaledEvent, RunEvent } from '../src/model/event.ts';
import { isStepEnd } from '../src/model/event-kinds.ts';
import type { RewindRequest } from '../src/model/rewind-request.ts';
import type { Run } from '../src/model/run.ts';
import { interrupted, type Stage } from './make-run.ts';

export interface Rewound {
  readonly events: readonly RunEvent[];
  readonly run: Run;
  readonly now: number;
  readonly planned: PlannedRewind;
}

type Played = Pick<Stage, 'run' | 'now' | 'workflows'> & { readonly events: readonly RunEvent[] };

/** Stops all steps and rewinds a copy. Nothing more happens if the rewind is refused. */
export function rewound(stage: Played, request: RewindRequest): Rewound {
  const { workflows, now } = stage;
  const events = [...stage.events];
  let { run } = stage;
  const take = (more: readonly RunEvent[]) => {
    events.push(...more);
    run = more.reduce(apply, run);
  };
  for (const [agent, { status }] of stage.run.agents) {
    if (status.kind !== 'running') continue;
    const ended = { kind: 'step-ended', at: now, agent, step: status.step } as const;
    take(interpret(workflows, run, { ...ended, outcome: interrupted() }));
  }
  const planned = planFor({ events, run, now }, request);
  if (planned.ok) take([{ ...planned.plan.event, files: [] }]);
  return { events, run, now: now + 1000, planned };
}

/** The same, for the stage itself. */
export function rewindStage(stage: Stage, request: RewindRequest): void {
  const { events, run, now } = rewound(stage, request);
  stage.events.splice(0, Number.POSITIVE_INFINITY, ...events);
  Object.assign(stage, { run, now });
}

export function planFor(
  { events, run, now }: Pick<Played, 'events' | 'run' | 'now'>,
  request: RewindRequest,
  rootOf = (directory: string): string | undefined => directory,
): PlannedRewind {
  const past = new Past(request);
  follow(events, (event, before) => past.follow(event, before));
  return planRewind(past, run, request, { at: now, rootOf });
}

/** Every turn ends with a message at which its session can be branched, as with a real agent. */
export function follow(
  events: readonly RunEvent[],
  each: (event: JournaledEvent, before: Run) => void,
): void {
  let run = newRun;
  events.forEach((event, i) => {
    each({ ...withCheckpoint(event, run), seq: i + 1 }, run);
    run = apply(run, event);
  });
}

function withCheckpoint(event: RunEvent, run: Run): RunEvent {
  const status = 'agent' in event ? run.agents.get(event.agent)?.status : undefined;
  if (!isStepEnd(event) || status?.kind !== 'running' || !status.session) return event;
  return { ...event, session: { id: status.session.id, checkpoint: `end of ${run.seq + 1}` } };
}

/** All steps that were started, in order. */
export function stepsOf({ events }: Pick<Stage, 'events'>) {
  return events.flatMap((event) =>
    event.type === 'step-started' ? [{ agent: event.agent, step: event.step }] : [],
  );
}
