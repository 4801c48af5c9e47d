// What a warm session saves, as a ratio within one run of the test: the machine's speed cancels out.
import { expect, test } from 'vitest';
import type { RunEvent } from '../../src/model/event.ts';
import { ages } from './claude-sandbox.ts';
import { eventsOf, sandboxes } from './raymond-sandbox.ts';

const sandbox = sandboxes();

test.each(ages)(
  'a warm goto takes at most a fifth of a new process (%s)',
  { retry: 1 },
  async (age) => {
    const later = async (turns: number, flags: readonly string[]) => {
      const { run, journal } = await sandbox({
        age,
        workflow: { 'START.md': 'Go on.' },
        script: (_, turn) => (turn + 1 < turns ? '<goto>START</goto>' : '<result>there</result>'),
      });
      expect(await run('workflow', '--workflow-id', 'r', ...flags)).toMatchObject({ code: 0 });
      return median(laterTurns(journal('r')));
    };
    const cold = await later(8, ['--no-warm']);
    const warm = await later(20, []);
    expect(warm / cold).toBeLessThanOrEqual(0.2);
  },
);

/** How long each turn but the first took. */
function laterTurns(events: readonly RunEvent[]): number[] {
  const started = eventsOf(events, 'step-started');
  return eventsOf(events, 'step-ended')
    .slice(1)
    .map(({ at, step }) => at - (started.find((event) => event.step === step)?.at ?? 0));
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
