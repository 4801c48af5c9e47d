import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import { freeze } from '../../src/journal/freeze-run.ts';
import { thaw } from '../../src/journal/thaw-run.ts';
import { type RunEvent, runEventSchema } from '../../src/model/event.ts';
import type { Run } from '../../src/model/run.ts';
import { tallyOf } from '../../src/model/tally.ts';
import { journey } from './journeys.ts';

const fold = (run: Run, events: readonly RunEvent[]) => events.reduce(apply, run);

test('any prefix of a journal is a run, and the following events continue it', () => {
  fc.assert(
    fc.property(journey, fc.nat(), ({ events, run }, n) => {
      const cut = n % (events.length + 1);
      const prefix = fold(newRun, events.slice(0, cut));
      expect(fold(prefix, events.slice(cut))).toEqual(run);
      expect(fold(newRun, events)).toEqual(run);
    }),
  );
});

test('a snapshot at any point replaces all events before it', () => {
  fc.assert(
    fc.property(journey, fc.nat(), ({ events, run }, n) => {
      const cut = 1 + (n % events.length);
      const prefix = fold(newRun, events.slice(0, cut));
      const thawed = thaw(JSON.parse(JSON.stringify(freeze(prefix))));
      expect(thawed).toEqual(prefix);
      if (thawed) expect(fold(thawed, events.slice(cut))).toEqual(run);
    }),
  );
});

test('every decided event can be journaled and read again', () => {
  fc.assert(
    fc.property(journey, ({ events }) => {
      for (const event of events) {
        expect(runEventSchema.parse(JSON.parse(JSON.stringify(event)))).toEqual(event);
      }
    }),
  );
});

test('the sums equal a recount at every point', () => {
  fc.assert(
    fc.property(journey, ({ events }) => {
      let run = newRun;
      let paid = 0;
      for (const event of events) {
        run = apply(run, event);
        if ('cost' in event) paid += event.cost.usd;
        expect(run.totalCostUsd).toBe(paid);
        expect(run.tally).toEqual(tallyOf([...run.agents].map(([, agent]) => agent)));
      }
    }),
  );
});

test('no agent is idle between two decisions, and nothing runs in a run that has ended', () => {
  fc.assert(
    fc.property(journey, ({ run }) => {
      const kinds = [...run.agents].map(([, { status }]) => status.kind);
      expect(kinds).not.toContain('deciding');
      if (run.status.kind === 'ended') expect(kinds).not.toContain('running');
    }),
  );
});
