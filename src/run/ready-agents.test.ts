import { expect, test } from 'vitest';
import { answered, makeRun, type Stage } from '../../test/make-run.ts';
import type { Input } from '../model/input.ts';
import { type Decided, Decider } from './decider.ts';

const CIRCUMSTANCES = {
  newId: () => 'a-session',
  executors: { prompt: 'scripted', script: 'scripted' },
  worker: undefined,
  startsHere: () => true,
  attended: false,
  patient: true,
};

function deciderOf(stage: Stage) {
  const decider = new Decider(stage.workflows, stage.run);
  const decide = (...inputs: readonly Input[]) =>
    decider.decide(inputs, { ...CIRCUMSTANCES, at: stage.now });
  return { decider, decide };
}

const started = (decided: readonly Decided[]) =>
  decided.flatMap(({ event }) => (event.type === 'step-started' ? event.agent : []));

test.each(['AFTER', 'AFTER.sh'])(
  'children that cannot start make their parent ready for %s, and it starts in the same decision',
  (after) => {
    const stage = makeRun({ START: [], W: [], [after]: [] });
    stage.turn('<fork>W</fork><fork>W</fork><join failed_next="AFTER">AFTER</join>');
    const flow = stage.workflows('/flow');
    const states = new Map([...(flow?.states ?? [])].filter(([name]) => name !== 'W.md'));
    const workflows = (ref: string) => flow && { ...flow, ref, states };
    const decider = new Decider(workflows, stage.run);
    const decided = decider.decide([], { ...CIRCUMSTANCES, at: stage.now });
    expect(decided.map(({ event }) => event.type)).toContain('agent-failed');
    expect(started(decided)).toEqual(['main']);
  },
);

test('agents that continue again and again do not keep the new ones from starting', () => {
  const stage = makeRun({ START: [], W: [] }, { settings: { maxParallelPrompts: 1 } });
  stage.turn(`${'<fork>W</fork>'.repeat(3)}<goto>START</goto>`);
  const { decider, decide } = deciderOf(stage);
  const order: string[] = [];
  let [agent] = started(decide());
  while (agent !== undefined && order.length < 20) {
    order.push(agent);
    const found = decider.run.agents.get(agent);
    if (found?.status.kind !== 'running') throw new Error('It does not run.');
    const { step } = found.status;
    const outcome = answered(stage, found, '<goto>START</goto>');
    [agent] = started(decide({ kind: 'step-ended', at: stage.now, agent, step, outcome }));
  }
  expect(new Set(order.slice(0, 12))).toEqual(new Set(['main', 'main_w1', 'main_w2', 'main_w3']));
});
