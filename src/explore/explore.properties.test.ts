import fc from 'fast-check';
import { expect, test } from 'vitest';
import { workflowOf } from '../../test/lint/workflow-of.ts';
import { explore } from './explore.ts';

type Step =
  | { readonly tag: 'goto' | 'compact' | 'reset'; readonly target: number }
  | { readonly tag: 'call'; readonly target: number; readonly back: number }
  | { readonly tag: 'result' };
type Machine = readonly (readonly Step[])[];

const STATES = ['START', 'A', 'B'];
const state = fc.nat(STATES.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ tag: fc.constantFrom('goto', 'compact', 'reset'), target: state }),
  fc.record({ tag: fc.constant('call' as const), target: state, back: state }),
  fc.record({ tag: fc.constant('result' as const) }),
);
const machines: fc.Arbitrary<Machine> = fc.tuple(
  ...STATES.map(() => fc.array(step, { minLength: 1, maxLength: 3 })),
);

function asWorkflow(machine: Machine) {
  const entry = (s: Step) => {
    if (s.tag === 'result') return '{tag: result}';
    const back = s.tag === 'call' ? `, return: ${STATES[s.back]}` : '';
    return `{tag: ${s.tag}, target: ${STATES[s.target]}${back}}`;
  };
  return workflowOf(
    Object.fromEntries(
      machine.map((steps, i) => [
        STATES[i] ?? '',
        `---\nallowed_transitions:\n${steps.map((s) => `  - ${entry(s)}\n`).join('')}---\n`,
      ]),
    ),
  );
}

/**
 * Keeps whole stacks. A shortest path to a state nests each callee once, and a shortest path back
 * nests each once more. So a depth of twice the number of states is enough.
 */
function reachedWithStacks(machine: Machine): readonly string[] {
  const queue = [{ at: 0, stack: [] as readonly number[] }];
  const seen = new Set<string>();
  for (const { at, stack } of queue) {
    const key = JSON.stringify([at, stack]);
    if (seen.has(key) || stack.length > 2 * STATES.length) continue;
    seen.add(key);
    for (const s of machine[at] ?? []) {
      if (s.tag === 'call') queue.push({ at: s.target, stack: [...stack, s.back] });
      else if (s.tag !== 'result') queue.push({ at: s.target, stack });
      else if (stack.length > 0) queue.push({ at: stack.at(-1) ?? 0, stack: stack.slice(0, -1) });
    }
  }
  const reached = new Set([...seen].map((key) => JSON.parse(key)[0]));
  return STATES.filter((_, i) => reached.has(i)).map((name) => `${name}.md`);
}

test('a walk without stacks reaches the same states as a walk with stacks', () => {
  fc.assert(
    fc.property(machines, (machine) => {
      const { states, configurations } = explore(asWorkflow(machine));
      expect([...states.reached].sort()).toEqual([...reachedWithStacks(machine)].sort());
      expect(configurations).toBeLessThanOrEqual(STATES.length * (STATES.length + 1));
    }),
  );
});

const fork = state.map((target) => `{tag: fork, target: ${STATES[target]}}`);
const join = fc
  .tuple(state, state, state, fc.constantFrom('all', 'any', '2'))
  .map(
    ([target, failed, late, of]) =>
      `{tag: join, target: ${STATES[target]}, of: "${of}", failed_next: ${STATES[failed]}, timeout: 1h, timeout_next: ${STATES[late]}}`,
  );
const joiningStates = fc.tuple(
  ...STATES.map(() =>
    fc
      .tuple(fc.array(fc.oneof(fork, join, fc.constant('{tag: result}')), { maxLength: 3 }), join)
      .map(([others, last]) => [...others, last]),
  ),
);

test('a walk of forks and joins ends, and enters every state that a reachable join names', () => {
  fc.assert(
    fc.property(joiningStates, (entries) => {
      const workflow = workflowOf(
        Object.fromEntries(
          entries.map((own, i) => [
            STATES[i] ?? '',
            `---\nallowed_transitions:\n${own.map((entry) => `  - ${entry}\n`).join('')}---\n`,
          ]),
        ),
      );
      const { boundHit, configurations, states } = explore(workflow);
      expect(boundHit).toBe(false);
      expect(configurations).toBeLessThanOrEqual(2 * STATES.length);
      const reached = new Set<string>(states.reached);
      for (const [i, own] of entries.entries()) {
        if (!reached.has(`${STATES[i]}.md`)) continue;
        for (const [, name] of own.join(' ').matchAll(/(?:_next|join, target): (\w+)/g))
          expect(reached).toContain(`${name}.md`);
      }
    }),
  );
});
