import { expect, test } from 'vitest';
import { failed, makeRun, type Stage } from '../../test/make-run.ts';
import { follow } from '../../test/rewound-run.ts';
import { JOURNAL_VERSION, type RunEvent } from '../model/event.ts';
import type { Run } from '../model/run.ts';
import { apply } from './apply.ts';
import { interpret } from './interpret.ts';
import { newRun } from './new-run.ts';
import { Past } from './past.ts';
import { movedTo, planVariant, type VariantPlan } from './plan-variant.ts';

const flow = { START: [], N: [], W: [], M: [], 'S.sh': [] };
const free = { settings: { budgetUsd: 0, maxParallelPrompts: 99 } };

function planned(stage: Stage, agent: string, step: number, alone = false) {
  const past = new Past({ kind: 'to', agent, step });
  follow(stage.events, (event, before) => past.follow(event, before));
  const rootOf = (directory: string) => (directory.startsWith('/none') ? undefined : directory);
  return planVariant(past, stage.run, { agent, step, alone, at: stage.now, rootOf });
}

function plan(...which: Parameters<typeof planned>): VariantPlan {
  const found = planned(...which);
  if (!found.ok) throw new Error(found.problem.kind);
  return found.plan;
}

/** The run with which a variant begins. */
function begun(stage: Stage, { beginning, agent }: VariantPlan): Run {
  const event: RunEvent = {
    type: 'run-started',
    version: JOURNAL_VERSION,
    ...{ at: stage.now, run: 'v', workflow: '/flow', state: agent.state, cwd: '/work' },
    ...{ settings: stage.run.settings, metadata: {}, beginning },
    origin: { run: 'r', startedAt: 1, agent: agent.id, step: 1, changes: {}, number: 1 },
  };
  return apply(newRun, event);
}

test('it begins as the run was, with nothing spent and its steps counted from 1', () => {
  const stage = makeRun(flow, free);
  stage.turn('<call return="M">N</call>', 'main', 0.5);
  stage.turn('<goto>W</goto>', 'main', 0.5);
  stage.turn('<result>x</result>', 'main', 0.5);
  const run = begun(stage, plan(stage, 'main', 2));
  expect(run).toMatchObject({ steps: 0, totalCostUsd: 0, iterations: 0, origin: { run: 'r' } });
  expect(run.agents.get('main')).toMatchObject({
    ...{ state: 'N.md', steps: 0, costUsd: 0, visits: { '/flow#START.md': 1, '/flow#N.md': 1 } },
    status: { kind: 'ready', task: { kind: 'state' } },
  });
  const [started] = interpret(stage.workflows, run, {
    ...{ kind: 'start-step', at: stage.now, agent: 'main', newSession: 'new' },
    executors: { prompt: 'scripted', script: 'script' },
  });
  expect(started).toMatchObject({ type: 'step-started', step: 1, session: { use: 'branch' } });
});

test('no session of the run is continued, neither that of the agent nor that of a caller', () => {
  const stage = makeRun(flow, free);
  stage.turn('<call return="M">N</call>');
  stage.turn('<goto>W</goto>');
  const at = 'end of 3';
  // Even where nothing was said after the moment.
  for (const step of [2, 3]) {
    const { beginning } = plan(stage, 'main', step === 3 ? 2 : step);
    const sessions = beginning.agents.flatMap(({ session, stack }) => [
      session,
      ...stack.map((frame) => frame.session),
    ]);
    expect(sessions).toMatchObject([
      { kind: 'branch', from: 's1', at },
      { kind: 'branch', from: 's1', at },
    ]);
  }
  expect(plan(stage, 'main', 1).agent.session).toEqual({ kind: 'none' });
});

test('an open session is branched at its newest message', () => {
  const stage = makeRun(flow, free);
  stage.turn('<goto>N</goto>');
  stage.turn('<goto>M</goto>');
  stage.turn('<result>x</result>');
  expect(plan(stage, 'main', 3).agent.session).toMatchObject({ kind: 'branch', at: 'end of 6' });
});

test('a step that repeats a failed one is refused, and names it', () => {
  const stage = makeRun(flow, free);
  stage.turn(failed('crashed'));
  stage.handle({ kind: 'time-came', at: stage.now + 1e6, agent: 'main' });
  stage.turn('<result>x</result>');
  expect(planned(stage, 'main', 2)).toEqual({ ok: false, problem: { kind: 'repeats', step: 1 } });
});

test('other agents come along where they rest, and prevent it where they work', () => {
  const stage = makeRun(flow, free);
  stage.turn('<fork>W</fork><fork>W</fork><join>M</join>');
  stage.start('main_w1');
  stage.turn('<goto>N</goto>', 'main_w2');
  stage.end('<result>1</result>', 'main_w1');
  stage.turn('<result>2</result>', 'main_w2');
  stage.turn('<result>all</result>');
  expect(planned(stage, 'main_w2', 1)).toEqual({
    ok: false,
    problem: { kind: 'others', agents: ['main_w1'] },
  });
  const alone = plan(stage, 'main_w2', 1, true);
  expect(alone.beginning.agents).toMatchObject([{ id: 'main_w2', workers: [] }]);
  expect(alone.agent).not.toHaveProperty('parent');

  const { beginning } = plan(stage, 'main_w2', 2);
  const run = begun(stage, plan(stage, 'main_w2', 2));
  expect(beginning.agents.map(({ id }) => id)).toEqual(['main', 'main_w2']);
  expect(beginning.ended).toMatchObject([{ id: 'main_w1', end: { result: '1' } }]);
  expect(run.agents.get('main')?.status).toMatchObject({ kind: 'joining', open: 1, successes: 1 });
  expect(run.forkCounters.get('main')).toBe(2);
});

test('directories move into the worktree of the variant, also those of callers', () => {
  const stage = makeRun(flow, free);
  stage.turn('<call return="M">N</call>');
  stage.turn('<result>x</result>');
  const made = plan(stage, 'main', 2);
  const [place] = made.places;
  if (!place) throw new Error('no place');
  const tree = { path: '/trees/v/main', base: 'b', repository: '/repo/.git' };
  const moved = movedTo(made.beginning, [
    { ...place, worktreeOfVariant: { branch: 'raymond/v/main', tree } },
  ]);
  expect(moved.agents).toMatchObject([
    {
      ...{ cwd: tree.path, stack: [{ cwd: tree.path }] },
      worktree: { branch: 'raymond/v/main', tree, wasSeen: false },
    },
  ]);
});

test.each([
  ['x', 1, 'no-agent'],
  ['main', 9, 'no-step'],
])('%s:%i is refused: %s', (agent, step, kind) => {
  const stage = makeRun(flow, free);
  stage.turn('<result>x</result>');
  expect(planned(stage, agent, step)).toEqual({ ok: false, problem: { kind } });
});

test('a run with a running step is refused', () => {
  const stage = makeRun(flow, free);
  stage.turn('<goto>N</goto>');
  stage.start();
  expect(planned(stage, 'main', 1)).toEqual({ ok: false, problem: { kind: 'running' } });
});
