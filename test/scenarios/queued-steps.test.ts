// In a database, a step can wait in a queue. Here it waits for five seconds and works for one.
import { expect, test } from 'vitest';
import { overlayOf } from '../../src/graph/overlay.ts';
import { RunHistory } from '../../src/history/run-history.ts';
import { Steps } from '../../src/history/steps.ts';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { freeze } from '../../src/journal/freeze-run.ts';
import { thaw } from '../../src/journal/thaw-run.ts';
import type { RunEvent } from '../../src/model/event.ts';
import { waitOf } from '../../src/model/wait.ts';
import { Describer } from '../../src/observe/describe.ts';
import { SpanReader } from '../../src/telemetry/span-reader.ts';
import { agentText } from '../../src/view/agent-text.ts';
import { interrupted, makeRun } from '../make-run.ts';

const QUEUED_MS = 5_000;
const WORKED_MS = 1_000;

function figuresOf(events: readonly RunEvent[]) {
  const history = new RunHistory();
  const steps = new Steps();
  const describer = new Describer(() => []);
  const spans = new SpanReader({ trace: () => 't', newSpan: () => 's' }, (executor) => executor);
  const lines: string[] = [];
  const traced: { readonly name: string; readonly ms: number }[] = [];
  let run = newRun;
  events.forEach((event) => {
    const earlier = run;
    run = apply(run, event);
    history.follow(event, run);
    steps.follow(event, run);
    lines.push(describer.describe(event, earlier, run)?.text ?? '');
    traced.push(
      ...spans.event(event, earlier, run).map(({ name, from, to }) => ({ name, ms: to - from })),
    );
  });
  const [step] = steps.all;
  return {
    run: run.workedMs,
    state: history.states[0]?.workedMs,
    agent: history.agents.get('main')?.workedMs,
    shown: (step?.ended?.at ?? 0) - (step?.started.at ?? 0),
    drawn: [...overlayOf(events).nodes.values()].reduce((sum, { timeMs }) => sum + timeMs, 0),
    traced: traced.find(({ name }) => name.includes('START'))?.ms,
    said: lines.find((line) => line.includes('->') || line.includes('interrupted')),
  };
}

/** The step waits in a queue first, and the rest of the run is later. */
function queued(events: readonly RunEvent[], isTaken: boolean): readonly RunEvent[] {
  const later = (event: RunEvent) => ({ ...event, at: event.at + QUEUED_MS });
  let isLater = false;
  return events.flatMap((event): readonly RunEvent[] => {
    if (event.type !== 'step-started') return [isLater ? later(event) : event];
    isLater = true;
    const { agent, step, at } = event;
    const taken = { type: 'step-taken', at: at + QUEUED_MS, agent, step, worker: 'blue' } as const;
    return [{ ...event, queued: true }, ...(isTaken ? [taken] : [])];
  });
}

test('the time in a queue is not part of a step, wherever it is shown', () => {
  const stage = makeRun({ START: [] });
  stage.turn('<result>done</result>');
  const plain = figuresOf(stage.events);
  expect(plain).toMatchObject({ run: WORKED_MS, traced: WORKED_MS, drawn: WORKED_MS });
  expect(figuresOf(queued(stage.events, true))).toEqual(plain);
});

test('a step that ends in a queue has not worked', () => {
  const stage = makeRun({ START: [] });
  stage.start();
  stage.end(interrupted());
  const { traced: _, said, ...figures } = figuresOf(queued(stage.events, false));
  expect(new Set(Object.values(figures))).toEqual(new Set([0]));
  expect(said).toContain('0.0 s');
});

test('an agent whose step waits in a queue says so, and a snapshot keeps it', () => {
  const stage = makeRun({ START: [] });
  stage.start();
  const run = queued(stage.events, false).reduce(apply, newRun);
  const agent = run.agents.get('main');
  if (!agent) throw new Error('There is no agent.');
  const wait = waitOf(run, agent, 0);
  if (!wait) throw new Error('It waits for nothing.');
  const listed = { id: 'main', kind: 'waiting', agent, wait } as const;
  const frame = { now: 0, doing: undefined, isAskedBelow: false };
  expect(agentText(listed, frame).text).toBe('waits for a worker');
  expect(thaw(JSON.parse(JSON.stringify(freeze(run))))?.tally.queued).toBe(1);
});
