import fc from 'fast-check';
import { expect, test } from 'vitest';
import { apply } from '../../src/interpret/apply.ts';
import { interpret } from '../../src/interpret/interpret.ts';
import { runEventSchema, settingsSchema } from '../../src/model/event.ts';
import { failureSchema } from '../../src/model/failure.ts';
import type { Input, StepReport } from '../../src/model/input.ts';
import { stateNameSchema } from '../../src/model/state-name.ts';
import { accountSchema, answerRefSchema } from '../../src/model/step-account.ts';
import { type TagReading, TRANSITION_TAGS } from '../../src/model/tag.ts';
import { worktreeLookSchema } from '../../src/model/worktree.ts';
import { deepFreeze } from './deep-freeze.ts';
import { fromSchema } from './from-schema.ts';
import { journey } from './journeys.ts';

const at = fc.nat(10 ** 9);
const account = fromSchema(accountSchema);
const word = fc.oneof(
  fc.constantFrom('N', 'START.md', 'S', 'POLICED', '/sub', '..', 'a/b', '1h', ''),
  fc.string(),
);
const attribute = fc.constantFrom(
  'return',
  'next',
  'cd',
  'input',
  'timeout',
  'timeout_next',
  'worktree',
  'base',
  'PATH',
  'x',
);
const reading: fc.Arbitrary<TagReading> = fc.record({
  tags: fc.array(
    fc.record({
      name: fc.constantFrom(...TRANSITION_TAGS),
      attributes: fc.dictionary(attribute, word),
      body: word,
    }),
    { maxLength: 3 },
  ),
  bad: fc.array(fc.record({ name: fc.constantFrom(...TRANSITION_TAGS), problem: word }), {
    maxLength: 1,
  }),
});
const missing = fc.record({ found: fc.constant(false as const), problem: fc.string() });
const worktreeFact = fc.record({
  found: fc.constant(true as const),
  tree: fc.option(
    fc.record({
      repository: word,
      base: word,
      folder: word,
      place: word,
      taken: fc.array(word).map((names) => new Set(names)),
    }),
    { nil: undefined },
  ),
});
const facts = fc.record({
  directories: fc
    .array(
      fc.tuple(
        word,
        fc.oneof(
          missing,
          fc.record({ found: fc.constant(true as const), path: word, inProject: fc.boolean() }),
        ),
      ),
    )
    .map((entries) => new Map(entries)),
  workflows: fc
    .array(
      fc.tuple(
        word,
        fc.oneof(
          missing,
          fc.record({
            found: fc.constant(true as const),
            ref: word,
            entry: fromSchema(stateNameSchema),
            inProject: fc.boolean(),
            unchanged: fc.boolean(),
          }),
        ),
      ),
    )
    .map((entries) => new Map(entries)),
  worktrees: fc
    .array(fc.tuple(fc.constantFrom('[null,null]', '[null,"N"]'), fc.oneof(missing, worktreeFact)))
    .map((entries) => new Map(entries)),
  environment: fc.array(word).map((names) => new Set(names)),
});
const outcome: fc.Arbitrary<StepReport> = fc.oneof(
  fc.record({
    kind: fc.constant('answered' as const),
    reading,
    text: fc.string(),
    account,
    answer: fromSchema(answerRefSchema),
    denied: fc.array(fc.string(), { maxLength: 2 }),
    facts,
  }),
  fc.record({ kind: fc.constant('failed' as const), failure: fromSchema(failureSchema), account }),
  fc.record({ kind: fc.constant('interrupted' as const), account, sessionUsable: fc.boolean() }),
);
const agent = fc.oneof(fc.constantFrom('main', 'main_n1', 'main_judged1', 'nobody'), fc.string());
const settings = fromSchema(settingsSchema);
const input: fc.Arbitrary<Input> = fc.oneof(
  fc.record({
    kind: fc.constant('start-step' as const),
    at,
    agent,
    newSession: fc.string(),
    executors: fc.record({ prompt: word, script: word }),
    worker: fc.option(word, { nil: undefined }),
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('step-ended' as const),
      at,
      agent,
      step: fc.nat(9),
      outcome,
      worktree: fc.option(fromSchema(worktreeLookSchema), { nil: undefined }),
    }),
  },
  fc.record({
    kind: fc.constant('person-answered' as const),
    at,
    agent,
    askedAt: at,
    text: fc.string(),
  }),
  fc.record({ kind: fc.constant('time-came' as const), at, agent }),
  fc.record({
    kind: fc.constant('worktree-settled' as const),
    at,
    agent,
    kept: fc.option(fc.string(), { nil: undefined }),
  }),
  fc.record({ kind: fc.constant('usage-limit-over' as const), at }),
  fc.record({
    kind: fc.constant('stop' as const),
    at,
    how: fc.constantFrom('drain' as const, 'now' as const),
  }),
  fc.record({
    kind: fc.constant('resume' as const),
    at,
    settings,
    input: fc.option(fc.string(), { nil: undefined }),
  }),
  fc.record({
    kind: fc.constant('idle' as const),
    at,
    attended: fc.boolean(),
    patient: fc.boolean(),
  }),
);

test('every input is decided without a throw or a change, as valid events', () => {
  fc.assert(
    fc.property(journey, fc.array(input, { maxLength: 8 }), ({ workflows, run }, inputs) => {
      let now = deepFreeze(run);
      for (const each of inputs) {
        const events = interpret(workflows, now, deepFreeze(aimed(each, now)));
        for (const event of events) {
          expect(runEventSchema.safeParse(event)).toMatchObject({ success: true });
          now = deepFreeze(apply(now, deepFreeze(event)));
        }
      }
    }),
  );
});

test('every event folds into every run without a throw or a change', () => {
  fc.assert(
    fc.property(
      journey,
      fc.array(fromSchema(runEventSchema), { maxLength: 8 }),
      ({ run }, events) => {
        for (const event of events)
          expect(runEventSchema.safeParse(event)).toMatchObject({ success: true });
        deepFreeze(events).reduce(
          (before, event) => deepFreeze(apply(before, event)),
          deepFreeze(run),
        );
      },
    ),
  );
});

/** Half of the ends are for a step that is running. */
function aimed(given: Input, run: Parameters<typeof interpret>[1]): Input {
  if (given.kind !== 'step-ended' || given.at % 2 === 0) return given;
  for (const [id, { status }] of run.agents) {
    if (status.kind === 'running') return { ...given, agent: id, step: status.step };
  }
  return given;
}
