import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { JOURNAL_VERSION, type RunEvent, runEventSchema } from '../../src/model/event.ts';
import type { Run } from '../../src/model/run.ts';
import type { BenchCase } from '../frame/case.ts';

const EVENTS = 20_000;

/** The work for an event must not grow with the number of agents. */
export const foldEvent: BenchCase = {
  name: 'fold-event',
  title: 'fold 20,000 events, 10,000 agents',
  floor: '10 agents',
  unit: 'ms',
  limits: 'ratio',
  target: 3,
  comparable: false,
  prepare() {
    const [few, many] = [10, 10_000].map((agents) => ({ run: runWith(agents), agents }));
    if (few === undefined || many === undefined) throw new Error('Two runs were made.');
    return { floor: () => fold(few.run, few.agents), ours: () => fold(many.run, many.agents) };
  },
};

function fold(start: Run, agents: number): number {
  const events = Array.from({ length: EVENTS }, (_, n) => moved(1 + (n % agents)));
  const begin = performance.now();
  events.reduce(apply, start);
  return performance.now() - begin;
}

function runWith(agents: number): Run {
  const forks = Array.from({ length: agents }, (_, n) => forked(n + 1));
  return [started(), ...forks].reduce(apply, newRun);
}

const place = { state: 'W.md', workflow: '/w', cwd: '/' };

function started(): RunEvent {
  return runEventSchema.parse({
    type: 'run-started',
    version: JOURNAL_VERSION,
    at: 1,
    run: 'bench',
    ...place,
    settings: newRun.settings,
    metadata: {},
  });
}

function forked(counter: number): RunEvent {
  const agent = `main_w${counter}`;
  const parent = { parent: 'main', counter, variables: {} };
  return runEventSchema.parse({ type: 'agent-forked', at: 2, agent, ...parent, ...place });
}

function moved(n: number): RunEvent {
  return runEventSchema.parse({
    type: 'agent-moved',
    at: 3,
    agent: `main_w${n}`,
    tag: 'goto',
    ...place,
    session: { kind: 'none' },
    stack: { kind: 'keep' },
  });
}
