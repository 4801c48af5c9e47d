import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeRun } from '../../test/make-run.ts';
import { PersistentMap } from '../model/persistent-map.ts';
import type { Agent, AgentStatus, Run } from '../model/run.ts';
import { stateNameSchema } from '../model/state-name.ts';
import { tallyOf } from '../model/tally.ts';
import { visible } from '../model/visible.ts';
import { widthOf } from '../observe/screen.ts';
import { screenRows } from './screen-rows.ts';
import { viewOf } from './view.ts';

/** Letters of all widths, marks, joiners, pictures, and everything that acts on a terminal. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        ...['\n', '\r', '\t', '\x1b[2J', '\x1b]0;x\x07', '\x9b', '\u202e', '\u200d', '\ufe0f', ' '],
        ...['漢字', 'e\u0301\u0301', '👩‍👩‍👧', '🇨🇭', '1️⃣', 'ﷺ', 'word', '— “x” …', 'x'.repeat(90)],
      ),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

const failure = text.map((message) => ({ kind: 'crashed', message }) as const);
const task = { kind: 'state' } as const;
const state = stateNameSchema.parse('WORK.md');

const status: fc.Arbitrary<AgentStatus> = fc.oneof(
  fc.constant({ kind: 'ready', task } as const),
  fc.record({
    kind: fc.constant('running' as const),
    task: fc.constant(task),
    step: fc.constant(1),
    state: fc.constant(state),
    startedAt: fc.integer({ min: 0, max: 2e12 }),
    isQueued: fc.boolean(),
    session: fc.constant(undefined),
    reservedUsd: fc.constant(undefined),
    executor: fc.constant(undefined),
    worker: fc.constant(undefined),
    decided: fc.constant([]),
    requests: fc.array(
      fc.record({ request: text, tool: text, summary: text, input: text, askedAt: fc.nat() }),
      { maxLength: 2 },
    ),
  }),
  failure.map((one) => ({ kind: 'waiting', task, until: 5, failure: one }) as const),
  failure.map((one) => ({ kind: 'failed', task, failure: one, join: undefined }) as const),
  text.map(
    (question) =>
      ({
        kind: 'asking',
        question,
        askedAt: 1,
        next: state,
        deadline: 9,
        timeoutNext: state,
      }) as const,
  ),
);

const agents = fc.array(
  fc.record({
    id: text,
    status,
    variables: fc.dictionary(text, text),
    costUsd: fc.double({ min: 0, max: 1e6, noNaN: true }),
  }),
  { maxLength: 40 },
);

const base = makeRun({ START: [] });

function runWith(
  some: readonly Pick<Agent, 'id' | 'status' | 'variables' | 'costUsd'>[],
  id: string,
): Run {
  const all = some.map((one) => [one.id, { ...base.agent(), ...one }] as const);
  return {
    ...base.run,
    id,
    agents: PersistentMap.from(all),
    tally: tallyOf(all.map(([, a]) => a)),
  };
}

const frame = fc.record({
  width: fc.integer({ min: 1, max: 200 }),
  height: fc.integer({ min: 1, max: 60 }),
  now: fc.integer({ min: 0, max: 2e12 }),
});

const doing = fc.record({ tool: text, words: text });
const typing = fc.option(fc.record({ question: text, before: text, after: text }));

test('no row is wider than the screen, there are not too many, and no text can act', () => {
  fc.assert(
    fc.property(agents, frame, doing, typing, text, (some, size, { tool, words }, typed, id) => {
      const known = some.map(
        ({ id: agent }, i) =>
          [
            agent,
            {
              agent,
              step: 1,
              tool: { at: i % 2, name: tool, summary: tool },
              words: { at: 1 - (i % 2), text: words },
            },
          ] as const,
      );
      const { rows } = screenRows(viewOf(runWith(some, id)), {
        ...size,
        doing: new Map(known),
        typing: typed ? { ...typed, asked: { agent: id, question: typed.question } } : undefined,
      });
      expect(rows.length).toBeLessThanOrEqual(Math.max(1, size.height - 1));
      for (const { pieces } of rows) {
        let end = 0;
        for (const { text, column = end } of pieces) {
          expect(column).toBeGreaterThanOrEqual(end);
          expect(visible(text)).toBe(text);
          expect([...'\n\t\x1b'].filter((one) => text.includes(one))).toEqual([]);
          end = column + widthOf(text);
        }
        expect(end).toBeLessThanOrEqual(Math.max(1, size.width - 1));
      }
      expect(rows.filter(({ cursorAfter }) => cursorAfter !== undefined)).toHaveLength(
        typed ? 1 : 0,
      );
    }),
    { numRuns: 300 },
  );
});
