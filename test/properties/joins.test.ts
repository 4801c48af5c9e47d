import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RunEvent } from '../../src/model/event.ts';
import { failed, makeRun, type Stage } from '../make-run.ts';
import { journey } from './journeys.ts';

const reportsIn = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === 'join-reported' ? [event] : []));

const names = (input: string) =>
  JSON.parse(input).map(({ agent }: { readonly agent: string }) => agent);

/** Forks this many children and joins them. Then the children end in this order. */
function joined(of: string, order: readonly number[], bad: ReadonlySet<number>): Stage {
  const stage = makeRun(
    { START: [], W: [], M: [] },
    { settings: { budgetUsd: 0, maxParallelPrompts: 99 } },
  );
  stage.turn(`${'<fork>W</fork>'.repeat(order.length)}<join of="${of}" failed_next="M">M</join>`);
  for (const n of order) {
    const id = `main_w${n + 1}`;
    if (!stage.run.agents.has(id)) continue;
    stage.turn(bad.has(n) ? failed('refused') : `<result>${n}</result>`, id);
  }
  return stage;
}

const orders = fc.integer({ min: 1, max: 8 }).chain((size) => {
  const all = Array.from({ length: size }, (_, n) => n);
  return fc.tuple(
    fc.shuffledSubarray(all, { minLength: size }),
    fc.subarray(all).map((bad) => new Set(bad)),
  );
});

test('the array of a join has exactly the forks, in their order, whatever the order of the ends', () => {
  fc.assert(
    fc.property(orders, fc.constantFrom('all', 'any', '2'), ([order, bad], of) => {
      const reports = reportsIn(joined(of, order, bad).events);
      expect(reports).toHaveLength(1);
      const forks = order.map((_, n) => `main_w${n + 1}`);
      expect(names(reports[0]?.input ?? '')).toEqual(forks);
      expect(reports[0]?.workers.map(({ agent }) => agent)).toEqual(forks);
    }),
  );
});

test('a join of all children reports the same array, whatever the order of the ends', () => {
  fc.assert(
    fc.property(orders, ([order, bad]) => {
      const reportOf = (sorted: readonly number[]) =>
        reportsIn(joined('all', sorted, bad).events)[0]?.input;
      expect(reportOf(order)).toEqual(reportOf([...order].sort()));
    }),
  );
});

test('a join is reported at most once, and a child is over in at most one report', () => {
  fc.assert(
    fc.property(journey, ({ events }) => {
      const open = new Set<string>();
      const over = new Set<string>();
      for (const event of events) {
        if (event.type === 'join-started') open.add(event.agent);
        if (event.type === 'run-resumed') for (const id of failedJoins(events, event)) open.add(id);
        if (event.type === 'run-rewound') {
          // What happened after the moment may happen again.
          over.clear();
          for (const { id, status } of event.agents) if (status.kind === 'joining') open.add(id);
        }
        if (event.type !== 'join-reported') continue;
        expect(open.delete(event.agent)).toBe(true);
        expect(names(event.input)).toEqual(event.workers.map(({ agent }) => agent));
        for (const { agent, status } of event.workers) {
          if (status === 'running') continue;
          expect(over.has(agent)).toBe(false);
          over.add(agent);
        }
      }
    }),
  );
});

/** The agents whose join had failed before an event. A resume lets them wait again. */
function failedJoins(events: readonly RunEvent[], until: RunEvent): ReadonlySet<string> {
  const failedIds = new Set<string>();
  for (const event of events) {
    if (event === until) break;
    if (event.type === 'agent-failed') failedIds.add(event.agent);
  }
  return failedIds;
}

test('a joining agent waits for a child that still works, unless --fail-fast stops the run', () => {
  fc.assert(
    fc.property(journey, ({ run }) => {
      for (const [id, { status }] of run.agents) {
        if (status.kind !== 'joining') continue;
        const working = status.join.workers.filter((child) => {
          const kind = run.agents.get(child)?.status.kind;
          return kind !== undefined && kind !== 'failed';
        });
        expect(status.open, id).toBe(working.length);
        expect(status.open + status.stopping, id).toBeGreaterThan(0);
      }
    }),
  );
});

test('a run that completed has no joining agent and no stopped step', () => {
  fc.assert(
    fc.property(journey, ({ run }) => {
      if (run.status.kind !== 'ended' || run.status.outcome !== 'completed') return;
      expect(run.tally.joining).toBe(0);
      expect(run.agents.size).toBe(0);
    }),
  );
});
