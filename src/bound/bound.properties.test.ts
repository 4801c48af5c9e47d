import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLong } from '../../test/long.ts';
import { type Choice, choicesOf, playable } from '../explore/choices.ts';
import { takeChoice } from '../explore/take-choice.ts';
import { MOST_AGENTS } from '../interpret/ceilings.ts';
import type { StateName } from '../model/state-name.ts';
import type { Tag } from '../model/tag.ts';
import type { Workflow } from '../model/workflow.ts';
import { writeTag } from '../parse/transition.ts';
import type { Step } from '../ports.ts';
import { play, scriptedWorkflow } from '../testing.ts';
import { boundOf } from './bound.ts';

/** START, A and B are prompts, and S is a script. */
const NAMES = ['START', 'A', 'B', 'S'];
const name = fc.constantFrom(...NAMES);
const LATE = 'failed_next: A, timeout: 1h, timeout_next: B';
const entry = fc.oneof(
  { weight: 5, arbitrary: name.map((to) => `{tag: goto, target: ${to}}`) },
  { weight: 1, arbitrary: name.map((to) => `{tag: reset, target: ${to}}`) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('call', 'function'), name, name)
      .map(([tag, to, back]) => `{tag: ${tag}, target: ${to}, return: ${back}}`),
  },
  { weight: 4, arbitrary: fc.constant('{tag: result}') },
  { weight: 1, arbitrary: name.map((to) => `{tag: ask, next: ${to}}`) },
  { weight: 1, arbitrary: name.map((to) => `{tag: join, target: ${to}, ${LATE}}`) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(name, name)
      .map(([to, next]) => `{tag: fork, target: ${to}, next: ${next}}`),
  },
);

/** With one of so many chances. */
const rarely = <T>(arbitrary: fc.Arbitrary<T>, chances = 8) =>
  fc.oneof({ weight: chances - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const prompt = fc
  .record({
    entries: fc.array(entry, { minLength: 1, maxLength: 3 }),
    maxVisits: rarely(fc.integer({ min: 1, max: 4 }), 2),
    visits: rarely(fc.tuple(fc.integer({ min: 1, max: 3 }), name)),
    judge: rarely(name),
    tries: rarely(fc.nat(2)),
    otherwise: rarely(name, 2),
  })
  .map(({ entries, maxVisits, visits, judge, tries, otherwise }) => {
    const then = (to: string) => `then: {tag: goto, target: ${to}}`;
    const evaluators = [
      ...(visits ? [`{visits: ${visits[0]}, ${then(visits[1])}}`] : []),
      ...(judge ? [`{prompt: JUDGE, expect: "YES", ${then(judge)}}`] : []),
    ];
    const otherwiseText = otherwise ? `, else: {tag: goto, target: ${otherwise}}` : '';
    return [
      '---',
      'allowed_transitions:',
      ...entries.map((one) => `  - ${one}`),
      ...(maxVisits === undefined ? [] : [`max_visits: ${maxVisits}`]),
      ...(evaluators.length > 0 ? ['evaluators:', ...evaluators.map((one) => `  - ${one}`)] : []),
      ...(tries === undefined
        ? []
        : [`ensures:`, `  - {run: check, tries: ${tries}${otherwiseText}}`]),
      '---',
      'Go on.',
    ].join('\n');
  });

const script = fc.oneof(
  fc
    .array(
      fc.oneof(
        name.map((to) => `<goto>${to}</goto>`),
        fc.tuple(name, name).map(([to, back]) => `<call return="${back}">${to}</call>`),
        fc.constant('<result>s</result>'),
      ),
      { minLength: 1, maxLength: 2 },
    )
    .map(([one = '', other = one]) => `if x; then\necho '${one}'\nelse\necho '${other}'\nfi`),
  fc
    .tuple(fc.array(name, { minLength: 1, maxLength: 3 }), name)
    .map(([to, next]) => to.map((one) => `echo '<fork next="${next}">${one}</fork>'`).join('\n')),
);

const workflows = fc.record({ START: prompt, A: prompt, B: prompt, 'S.sh': script });
type Texts = Readonly<Record<string, string>>;

const JUDGE = '---\nallowed_transitions:\n  - {tag: result}\n---\nJudge.';
const asWorkflow = (texts: Texts) =>
  scriptedWorkflow(
    Object.fromEntries(
      Object.entries({ ...texts, JUDGE }).map(([key, text]) => [key, { text, answers: [] }]),
    ),
  );

/** What an agent does in one step: the tags of its answer, and what overrides them. */
interface Turn {
  readonly state: StateName;
  readonly tags: readonly Tag[];
  readonly by: 'itself' | 'visits' | 'judge' | 'check';
}
interface Path {
  readonly prompts: number;
  readonly agents: number;
  readonly turns: readonly Turn[];
}

/** Follows every play by the rules of the language, with whole stacks and all visits. */
class Plays {
  readonly #choices: ReadonlyMap<StateName, readonly Choice[]>;
  readonly #workflow: Workflow;
  readonly #known = new Map<string, Path | undefined>();
  readonly #effects = new Map<string, ReturnType<typeof takeChoice>>();
  /** Some plays were not followed. */
  isCut = false;

  constructor(workflow: Workflow) {
    this.#workflow = workflow;
    this.#choices = choicesOf(workflow);
  }

  worst(): Path {
    return this.from(this.#workflow.entry);
  }

  from(state: StateName): Path {
    return this.#worst(state, [], { [state]: 1 }, 0);
  }

  #worst(
    state: StateName,
    stack: readonly StateName[],
    visits: Readonly<Record<string, number>>,
    depth: number,
  ): Path {
    const none = { prompts: 0, agents: 0, turns: [] };
    const key = JSON.stringify([state, stack, Object.entries(visits).sort()]);
    const known = this.#known.get(key);
    if (known) return known;
    // A cycle that uses nothing, or a play that is too long to follow.
    if (this.#known.has(key) || depth > 400 || this.#known.size > 20_000 || stack.length > 12) {
      this.isCut = true;
      return none;
    }
    this.#known.set(key, undefined);
    const possible = this.#possible(state, visits);
    const usual = possible.some(({ by }) => by !== 'visits') || possible.length === 0;
    const least = this.#uses(state, usual ? 'itself' : 'visits');
    let worst: Path = { prompts: least, agents: 0, turns: [] };
    for (const { choice, by } of possible) {
      for (const path of this.#after(state, choice, by, stack, visits, depth)) {
        const isWorse = path.prompts - worst.prompts || path.agents - worst.agents;
        if (isWorse > 0 || (isWorse === 0 && worst.turns.length === 0)) worst = path;
      }
    }
    this.#known.set(key, worst);
    return worst;
  }

  #after(
    state: StateName,
    choice: Choice,
    by: Turn['by'],
    stack: readonly StateName[],
    visits: Readonly<Record<string, number>>,
    depth: number,
  ): readonly Path[] {
    const tags = this.#repeated(state, choice);
    const answered = by === 'itself' ? tags : (this.#written(state)[0]?.tags ?? []);
    const turn = { state, tags: answered, by };
    const effects = this.#effectsOf(state, stack.length > 0, choice);
    const times = tags.length / Math.max(1, choice.tags?.length ?? 1);
    const started = effects.flatMap((effect) =>
      effect.kind === 'child' ? [this.from(effect.state)] : [],
    );
    const base = {
      prompts: this.#uses(state, by) + sum(started.map(({ prompts }) => prompts * times)),
      agents: sum(started.map(({ agents }) => (1 + agents) * times)),
      turns: [turn],
    };
    const on = (to: StateName, left: readonly StateName[]): Path => {
      const count = (visits[to] ?? 0) + 1;
      const found = this.#workflow.states.get(to);
      const most = found?.kind === 'prompt' ? (found.policy.maxVisits ?? Infinity) : Infinity;
      if (count > most) return base;
      const kept = this.#isCounted(to) ? { ...visits, [to]: count } : visits;
      const rest = this.#worst(to, left, kept, depth + 1);
      return {
        prompts: base.prompts + rest.prompts,
        agents: base.agents + rest.agents,
        turns: [turn, ...rest.turns],
      };
    };
    return effects.map((effect) => {
      switch (effect.kind) {
        case 'enter':
          return on(effect.state, stack);
        case 'call':
          return on(effect.state, [...stack, effect.returns]);
        case 'result': {
          const back = stack.at(-1);
          return back === undefined ? base : on(back, stack.slice(0, -1));
        }
        default:
          return base;
      }
    });
  }

  #isCounted(name: StateName): boolean {
    const state = this.#workflow.states.get(name);
    if (state?.kind !== 'prompt') return false;
    const { maxVisits, evaluators } = state.policy;
    return maxVisits !== undefined || evaluators.some(({ kind }) => kind === 'visits');
  }

  #effectsOf(state: StateName, isCalled: boolean, choice: Choice) {
    const key = JSON.stringify([state, isCalled, choice.tags]);
    const found = this.#workflow.states.get(state);
    const states = new Map(this.#workflow.states);
    if (found) states.set(state, playable(found, choice));
    const known =
      this.#effects.get(key) ??
      takeChoice({ ...this.#workflow, states }, { state, isCalled }, choice);
    this.#effects.set(key, known);
    return known;
  }

  #written(state: StateName): readonly Choice[] {
    const own = (this.#choices.get(state) ?? []).filter(
      ({ way: { origin } }) => origin !== 'evaluator' && origin !== 'ensures',
    );
    const forks = own.filter(({ way }) => way.tag === 'fork');
    const [first] = forks;
    if (this.#workflow.states.get(state)?.kind !== 'script' || !first) return own;
    // A script prints all of its forks.
    return [{ ...first, tags: forks.flatMap(({ tags = [] }) => tags) }];
  }

  /** An agent may write the same fork a thousand times. */
  #repeated(state: StateName, { tags = [], way }: Choice): readonly Tag[] {
    const isFree = way.tag === 'fork' && this.#workflow.states.get(state)?.kind === 'prompt';
    return isFree ? Array.from({ length: 1000 }, () => tags).flat() : tags;
  }

  #possible(state: StateName, visits: Readonly<Record<string, number>>) {
    const found = this.#workflow.states.get(state);
    const itself = (choice: Choice) => ({ choice, by: 'itself' as const });
    if (found?.kind !== 'prompt') return this.#written(state).map(itself);
    const { evaluators, ensures } = found.policy;
    const by = [
      ...evaluators.map(({ kind }) =>
        kind === 'visits' ? ('visits' as const) : ('judge' as const),
      ),
      ...ensures.flatMap(({ otherwise }) => (otherwise ? ['check' as const] : [])),
    ];
    const overrides = (this.#choices.get(state) ?? [])
      .filter(({ way: { origin } }) => origin === 'evaluator' || origin === 'ensures')
      .map((choice, i) => ({ choice, by: by[i] ?? 'check' }));
    const [first] = evaluators;
    const isOver = first?.kind === 'visits' && (visits[state] ?? 0) >= first.count;
    if (isOver) return overrides.filter((one) => one.by === 'visits');
    return [...this.#written(state).map(itself), ...overrides.filter((one) => one.by !== 'visits')];
  }

  #uses(state: StateName, by: Turn['by']): number {
    const found = this.#workflow.states.get(state);
    if (found?.kind !== 'prompt') return 0;
    if (by === 'visits') return 4;
    const tries = found.policy.ensures[0]?.tries ?? 0;
    const isJudged = found.policy.evaluators.some(({ kind }) => kind === 'prompt');
    if (!isJudged) return 1 + tries + 3;
    return (tries > 0 ? (1 + tries) * 4 : 4) + (1 + tries) * 4;
  }
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);

/** A policy may imply a tag if an agent writes none. */
const WRONG = '<goto>NOWHERE</goto>';

/** Plays a path with the real language. The agents need every reminder that they may get. */
async function replay(texts: Texts, workflow: Workflow, plays: Plays) {
  interface Cursor {
    readonly turns: readonly Turn[];
    at: number;
    visit: string;
    bad: number;
    checked: number;
    judged: number;
  }
  const cursors = new Map<string, Cursor>();
  const next = ({ agent, state, kind }: Step) => {
    const cursor = cursors.get(agent) ?? {
      ...{ turns: plays.from(state).turns, at: -1, visit: '', bad: 0, checked: 0, judged: 0 },
    };
    cursors.set(agent, cursor);
    return { cursor, kind, state };
  };
  const answers = (step: Step) => {
    const { cursor } = next(step);
    const turn = () => cursor.turns[cursor.at];
    const own = (name: StateName | undefined) => {
      const found = name === undefined ? undefined : workflow.states.get(name);
      return found?.kind === 'prompt' ? found.policy : undefined;
    };
    if (step.state === 'JUDGE.md') {
      cursor.judged += 1;
      if (cursor.judged % 4 !== 0) return WRONG;
      const tries = own(turn()?.state)?.ensures[0]?.tries ?? 0;
      const isLast = cursor.checked >= tries;
      return `<result>${isLast && turn()?.by === 'judge' ? 'NO' : 'YES'}</result>`;
    }
    const policy = own(step.state);
    if (step.kind !== 'prompt' && policy) {
      const tries = policy.ensures[0]?.tries ?? 0;
      cursor.checked += 1;
      const fails = cursor.checked <= tries || turn()?.by === 'check';
      return { text: '', exit: fails ? 1 : 0 };
    }
    // A prompt without words begins its state again.
    const isNew = step.kind !== 'prompt' || !step.prompt.startsWith('Y');
    if (isNew) Object.assign(cursor, { at: cursor.at + 1, bad: 0, checked: 0, judged: 0 });
    const tags = (turn()?.tags ?? []).map(writeTag).join('\n');
    if (!policy) return tags;
    const isJudged = policy.evaluators.some(({ kind }) => kind === 'prompt');
    const tries = policy.ensures[0]?.tries ?? 0;
    const most = isJudged && tries > 0 && turn()?.by !== 'visits' ? 3 * (1 + cursor.checked) : 3;
    if (cursor.bad < most) {
      cursor.bad += 1;
      return WRONG;
    }
    return tags === '' ? WRONG : tags;
  };
  const all = Object.entries({ ...texts, JUDGE });
  const { events } = await play(
    Object.fromEntries(all.map(([key, text]) => [key, { text, answers }])),
    {
      settings: { budgetUsd: 0, maxIterations: 0 },
      answers: Array.from({ length: 2000 }, () => 'yes'),
    },
  );
  const started = events.filter((event) => event.type === 'step-started');
  return {
    prompts: started.filter(({ session }) => session !== undefined).length,
    agents: 1 + events.filter(({ type }) => type === 'agent-forked').length,
  };
}

const CASES = isLong ? 10_000 : 300;
const MOST_PLAYED = 500;

test('no play of a random workflow exceeds its bound, and half of the bounds are reached', async () => {
  const counts = { bounded: 0, tight: 0, tightAgents: 0 };
  await fc.assert(
    fc.asyncProperty(workflows, async (texts) => {
      const workflow = asWorkflow(texts);
      const bound = boundOf(workflow);
      if (bound.prompts === null) {
        expect(bound.loops).not.toEqual([]);
        return;
      }
      counts.bounded += 1;
      const plays = new Plays(workflow);
      const worst = plays.worst();
      // Such a play fails at the ceiling of its run.
      if (worst.agents >= MOST_AGENTS) return;
      expect(worst.prompts).toBeLessThanOrEqual(bound.prompts);
      expect(1 + worst.agents).toBeLessThanOrEqual(bound.agents);
      if (1 + worst.agents === bound.agents) counts.tightAgents += 1;
      if (worst.prompts > MOST_PLAYED || worst.agents > MOST_PLAYED) return;
      const played = await replay(texts, workflow, plays);
      expect(played.prompts).toBeLessThanOrEqual(bound.prompts);
      expect(played.agents).toBeLessThanOrEqual(bound.agents);
      if (played.prompts === bound.prompts) counts.tight += 1;
    }),
    { numRuns: CASES },
  );
  expect(counts.bounded).toBeGreaterThan(CASES / 10);
  expect(counts.tight).toBeGreaterThanOrEqual(counts.bounded / 2);
  expect(counts.tightAgents).toBeGreaterThanOrEqual(counts.bounded / 2);
}, 600_000);
