// Whatever a policy allows leads only where its entries say, and a run, lint and exploration agree.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeRun, state } from '../../test/make-run.ts';
import { choicesOf } from '../explore/choices.ts';
import { explore } from '../explore/explore.ts';
import type { RunEvent } from '../model/event.ts';
import { type Tag, type TagName, TRANSITION_TAGS } from '../model/tag.ts';
import { readDuration, TAG_RULES, writeTag } from '../parse/transition.ts';
import { lint } from './lint.ts';

const FLOW = { A: [], B: [], 'C.sh': [], DEPLOY: [] };
const others = { '/sub': { START: [] } };

const name = fc.constantFrom('A', 'A.md', 'B', 'C', 'C.sh', 'DEPLOY', 'DEPLOY.md');
const values: Readonly<Record<string, fc.Arbitrary<string>>> = {
  target: name,
  return: name,
  next: name,
  timeout_next: name,
  failed_next: name,
  path: fc.constantFrom('/sub', '/flow'),
  timeout: fc.constantFrom('1s', '24h', '1d'),
  of: fc.constantFrom('all', 'any', '1', '2'),
  rest: fc.constantFrom('stop', 'continue'),
  item: fc.constantFrom('a', 'b'),
  input: fc.constantFrom('a', 'b'),
  payload: fc.constantFrom('YES', 'NO'),
  question: fc.constantFrom('May I?', 'Shall I?'),
};

const PARTS = TRANSITION_TAGS.map((tag) => {
  const { body, required, optional, variables } = TAG_RULES[tag];
  const keys = [...required, ...optional, ...(variables ? ['item'] : [])];
  return { tag, body, keys: keys.filter((key) => key in values) };
});

/** Any parts of any tag, in any order. A deadline is usually written with both of its parts. */
const partsFrom = ({ tag, keys, body }: (typeof PARTS)[number]) =>
  fc
    .record({
      written: fc.record(Object.fromEntries(keys.map((key) => [key, values[key] ?? name])), {
        requiredKeys: TAG_RULES[tag].required.filter((key) => keys.includes(key)),
      }),
      body: values[body] ?? name,
      isTimed: fc.boolean(),
    })
    .chain(({ written, body, isTimed }) => {
      const { timeout = '1s', timeout_next = 'A', ...rest } = written;
      const canWait = keys.includes('timeout');
      const attributes = canWait && isTimed ? { ...rest, timeout, timeout_next } : rest;
      const order = fc.shuffledSubarray(Object.entries(attributes), {
        minLength: Object.keys(attributes).length,
      });
      return order.map(
        (entries): Tag => ({
          name: tag,
          attributes: Object.fromEntries(entries),
          body,
        }),
      );
    });

const parts = fc.constantFrom(...PARTS).chain(partsFrom);
const partsOf = (tag: TagName) =>
  fc.constantFrom(...PARTS.filter((one) => one.tag === tag)).chain(partsFrom);

const answers = fc.oneof(
  parts.map((tag) => [tag]),
  fc
    .tuple(
      fc.array(
        parts.filter((tag) => TAG_RULES[tag.name].variables),
        { minLength: 1, maxLength: 3 },
      ),
      fc.array(
        parts.filter((tag) => tag.name === 'goto' || tag.name === 'join'),
        { maxLength: 1 },
      ),
    )
    .map(([forks, own]) => [...forks, ...own]),
);

/** An entry with other attributes, which may be more or fewer. */
const changed = (entry: Tag) =>
  partsOf(entry.name).chain(({ attributes }) =>
    fc
      .constantFrom(attributes, { ...attributes, ...entry.attributes })
      .map((written): Tag => ({ ...entry, attributes: written })),
  );

/** Many answers are made of the entries themselves, so that many are allowed, or almost. */
const cases = fc.array(parts, { minLength: 1, maxLength: 4 }).chain((entries) =>
  fc.record({
    entries: fc.constant(entries),
    leavesText: fc.boolean(),
    tags: fc.oneof(
      answers,
      fc.subarray(entries, { minLength: 1 }),
      fc.constantFrom(...entries).map((entry) => [entry]),
      fc.constantFrom(...entries).chain((entry) => changed(entry).map((tag) => [tag])),
    ),
  }),
);

function entryOf({ name: tag, attributes, body }: Tag, leavesText: boolean): string {
  const key = TAG_RULES[tag].body;
  const isText = key === 'payload' || key === 'question';
  const own = isText && leavesText ? {} : { [key]: body };
  const pairs = Object.entries({ tag, ...own, ...attributes });
  return `{${pairs.map(([key, value]) => `${key}: ${JSON.stringify(value)}`).join(', ')}}`;
}

function stageFor({ entries, leavesText, tags }: Case) {
  const list = entries.map((entry) => `  - ${entryOf(entry, leavesText)}\n`).join('');
  const answer = tags.map(writeTag).join(' ');
  const start = state(`allowed_transitions:\n${list}`.trimEnd(), answer);
  const stage = makeRun({ START: start, ...FLOW }, { others });
  const workflow = stage.workflows('/flow');
  if (!workflow) throw new Error('no workflow');
  return { stage, workflow, answer };
}

interface Case {
  readonly entries: readonly Tag[];
  readonly leavesText: boolean;
  readonly tags: readonly Tag[];
}

/** Where the events of a step can lead, and after which time. */
function reachedBy(events: readonly RunEvent[]): readonly string[] {
  return events.flatMap((event) => {
    switch (event.type) {
      case 'agent-moved': {
        const back = event.stack.kind === 'push' ? [`return ${event.stack.frame.state}`] : [];
        const here = event.workflow === '/flow' ? event.state : event.workflow;
        return [event.tag.startsWith('fork') ? `next ${here}` : `target ${here}`, ...back];
      }
      case 'agent-forked':
        return [`target ${event.workflow === '/flow' ? event.state : event.workflow}`];
      case 'agent-asked':
      case 'join-started': {
        const { deadline, timeoutNext } = event;
        return [
          event.type === 'agent-asked' ? `next ${event.next}` : `target ${event.next}`,
          ...(event.type === 'join-started'
            ? [
                `of ${event.of}`,
                `rest ${event.rest ?? 'stop'}`,
                ...named('failed_next', event.failedNext),
              ]
            : []),
          ...named('timeout_next', timeoutNext),
          ...(deadline === undefined ? [] : [`timeout ${deadline - event.at}`]),
        ];
      }
      default:
        return [];
    }
  });
}

const named = (part: string, state: string | undefined) =>
  state === undefined ? [] : [`${part} ${state}`];

/** The same facts, as the entries of the policy name them. */
function namedBy(entries: readonly Tag[]): ReadonlySet<string> {
  const full = (written: string) =>
    ({ A: 'A.md', B: 'B.md', C: 'C.sh', DEPLOY: 'DEPLOY.md', '/flow': 'START.md' })[written] ??
    written;
  return new Set(
    entries.flatMap(({ name, attributes, body }) => [
      `target ${full(body)}`,
      // A goto beside forks is where their parent continues.
      ...(name === 'goto' ? [`next ${full(body)}`] : []),
      ...(name === 'join'
        ? [`of ${attributes.of ?? 'all'}`, `rest ${attributes.rest ?? 'stop'}`]
        : []),
      ...Object.entries(attributes).map(([key, value]) =>
        key === 'timeout' ? `timeout ${readDuration(value)}` : `${key} ${full(value)}`,
      ),
    ]),
  );
}

test('an accepted answer leads only to states that entries name, and waits as they say', () => {
  let accepted = 0;
  fc.assert(
    fc.property(cases, (example) => {
      const { stage, workflow, answer } = stageFor(example);
      const start = workflow.states.get(workflow.entry);
      if (start?.kind === 'broken') return;
      const events = stage.turn(answer);
      if (events.some(({ type }) => type === 'agent-reminded' || type === 'agent-failed')) return;
      accepted++;
      const allowed = namedBy(example.entries);
      for (const fact of reachedBy(events)) expect(allowed).toContain(fact);
    }),
    { numRuns: 800 },
  );
  expect(accepted).toBeGreaterThan(80);
});

/** An entry without what its tag needs, or with a value that it cannot have. */
const BROKEN = new Set<string>(['incomplete-transition', 'bad-transition']);

test('a run, lint and exploration agree on what a policy allows', () => {
  const verdicts = { allowed: 0, forbidden: 0, broken: 0 };
  fc.assert(
    fc.property(cases, (example) => {
      const { stage, workflow, answer } = stageFor(example);
      const found = lint(workflow);
      const start = workflow.states.get(workflow.entry);
      if (start?.kind !== 'prompt') {
        verdicts.broken++;
        expect(found.some(({ code }) => BROKEN.has(code))).toBe(true);
        return;
      }
      const events = stage.turn(answer);
      const last = events.at(-1);
      const failure =
        last?.type === 'agent-reminded' || last?.type === 'agent-failed' ? last.failure : undefined;
      // Lint looks at each tag by itself if they cannot be one answer.
      if (failure && failure.kind !== 'forbidden-transition') return;
      verdicts[failure ? 'forbidden' : 'allowed']++;
      const forbidden = found.some(({ code }) => code === 'forbidden-tag');
      expect(forbidden).toBe(failure !== undefined);
      if (failure) return;
      const explored = new Set<string>(explore(workflow).states.reached);
      for (const fact of reachedBy(events)) {
        const [, name = ''] = fact.split(' ');
        if (/\.(md|sh)$/.test(name)) expect(explored).toContain(name);
      }
    }),
    { numRuns: 400 },
  );
  expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(8);
});

test('every choice that an exploration takes is allowed in a run', () => {
  fc.assert(
    fc.property(cases, (example) => {
      const { workflow } = stageFor(example);
      const start = workflow.states.get(workflow.entry);
      if (start?.kind !== 'prompt') return;
      for (const { tags } of choicesOf(workflow).get(workflow.entry) ?? []) {
        if (!tags) continue;
        const { stage, answer } = stageFor({ ...example, tags });
        const refused = stage.turn(answer).flatMap((event) => {
          if (event.type !== 'agent-reminded' && event.type !== 'agent-failed') return [];
          // A choice has one fork, and a join may wait for more of them.
          return event.failure.kind === 'join-failed' ? [] : [event];
        });
        expect(refused).toEqual([]);
      }
    }),
    { numRuns: 150 },
  );
});
