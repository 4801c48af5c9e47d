import { describe, expect, test } from 'vitest';
import type { Stage } from '../../test/make-run.ts';
import { failed, interrupted, makeRun, state, types } from '../../test/make-run.ts';
import type { Settings } from '../model/event.ts';
import { remainingUsd } from './start-step.ts';

/** A script that has forked children of one kind. None of them has started. */
function forked(count: number, settings: Partial<Settings> = {}, target = 'W'): Stage {
  const stage = makeRun({ 'START.sh': [], W: [], 'S.sh': [] }, { settings });
  const forks = Array.from({ length: count - 1 }, () => `<fork>${target}</fork>`).join('');
  stage.turn(`${forks}<goto>${target}</goto>`);
  return stage;
}

/** Starts all agents that can start; returns the number of running ones. */
function startAll(stage: Stage): number {
  for (const [id] of stage.run.agents) stage.start(id);
  return stage.run.tally.promptsRunning + stage.run.tally.scriptsRunning;
}

function running(stage: Stage): string {
  const found = [...stage.run.agents].find(([, { status }]) => status.kind === 'running');
  if (!found) throw new Error('nobody runs');
  return found[0];
}

describe('parallel turns share the budget', () => {
  const parts = (stage: Stage) =>
    stage.events.flatMap((event) =>
      event.type === 'step-started' && event.reservedUsd !== undefined ? event.reservedUsd : [],
    );

  test.each([
    ['a dollar each while the cost is unknown', 10, 6, Array(6).fill(1)],
    ['equal parts of less', 3, 6, Array(6).fill(0.5)],
    ['those that wait for a place get no part', 2, 10, Array(4).fill(0.5)],
    ['hardly anything is not divided', 0.1, 4, [0.05, 0.05]],
    ['no budget, no parts', 0, 6, []],
  ])('%s', (_, budgetUsd, count, expected) => {
    const stage = forked(count, { budgetUsd, maxParallelPrompts: count === 10 ? 4 : 16 });
    startAll(stage);
    expect(parts(stage)).toEqual(expected);
  });

  test('an agent on its own has all of the rest', () => {
    const stage = makeRun({ START: [] }, { settings: { budgetUsd: 5 } });
    stage.turn('<goto>START</goto>', 'main', 2);
    stage.start();
    expect(parts(stage)).toEqual([5, 3]);
  });

  test.each([
    ['as much as a turn of the state has cost', 10, [2], [2, 2, 2, 2]],
    ['the highest cost counts, not the last', 10, [3, 0.1], [3, 3]],
    ['up to a dollar if there is enough for all', 10, [0.1], [0.99, 0.99]],
    ['at least one turn while budget is left', 1, [0.9], [0.1]],
    ['none when the budget is spent', 1, [1], []],
    ['none when the budget is overspent', 1, [1.5], []],
    ['rounding errors do not add a turn', 1, Array(10).fill(0.1), []],
    ['rounding errors do not remove a turn', 0.4, [0.1], [0.1, 0.1, 0.1]],
  ])('%s', (_, budgetUsd, costs, expected) => {
    const stage = forked(10, { budgetUsd });
    for (const cost of costs) {
      stage.start();
      if (stage.agent().status.kind === 'running') stage.end('<goto>W</goto>', 'main', cost);
    }
    const before = parts(stage).length;
    startAll(stage);
    expect(parts(stage).slice(before, before + Math.max(1, expected.length))).toEqual(expected);
    const { reservedUsd } = stage.run.tally;
    expect(reservedUsd).toBeLessThanOrEqual(Math.max(0, remainingUsd(stage.run) ?? 0));
  });

  test('what a turn leaves of its part is free again', () => {
    const stage = forked(3, { budgetUsd: 1.5 });
    expect(startAll(stage)).toBe(3);
    for (const [id] of [...stage.run.agents]) stage.end('<goto>W</goto>', id, 0.1);
    expect(stage.run.tally.reservedUsd).toBe(0);
    expect(startAll(stage)).toBe(3);
    expect(stage.run.tally.reservedUsd).toBe(1.2);
  });

  test('a turn that asks for a permission gives up its place, and keeps its part', () => {
    const stage = forked(3, { budgetUsd: 3, maxParallelPrompts: 1 });
    expect(startAll(stage)).toBe(1);
    const request = { request: 'r1', tool: 'Bash', summary: 'ls', input: '{}' };
    const at = stage.now;
    stage.handle({ kind: 'permission-requested', at, agent: 'main', step: 2, request });
    expect(stage.run.tally).toMatchObject({ asksPermission: 1, reservedUsd: 1 });
    expect(startAll(stage)).toBe(2);
    expect(stage.run.tally.reservedUsd).toBe(2);
  });

  test('finished runs say what a turn costs', () => {
    const stage = forked(10, { budgetUsd: 10 });
    stage.run = { ...stage.run, turnCosts: stage.run.turnCosts.set('/flow#W.md', 4) };
    expect(startAll(stage)).toBe(2);
  });

  test.each([
    ['claude', 1],
    ['codex', 3],
  ])('a turn of %s, after the most expensive one cost 3, gets %i', (agent, part) => {
    const stage = makeRun({ 'START.sh': [], W: state(`agent: ${agent}`) });
    stage.turn('<fork>W</fork><goto>W</goto>');
    const turnCosts = stage.run.turnCosts.set('/flow#W.md', 0.1);
    stage.run = { ...stage.run, dearestTurnUsd: 3, turnCosts };
    expect(stage.start()).toMatchObject([{ reservedUsd: part }]);
  });

  test.each([
    ['claude', 2],
    ['codex', 3],
  ])('when turns of %s seem to cost nothing and two dollars are taken, %i run', (agent, count) => {
    const stage = makeRun(
      { 'START.sh': [], W: state(`agent: ${agent}`) },
      { settings: { budgetUsd: 2 } },
    );
    stage.turn('<fork>W</fork><fork>W</fork><goto>W</goto>');
    for (const id of ['main_w1', 'main_w2']) stage.start(id);
    const turnCosts = stage.run.turnCosts.set('/flow#W.md', 0);
    stage.run = { ...stage.run, turnCosts, tally: { ...stage.run.tally, reservedUsd: 2 } };
    stage.start();
    expect(stage.run.tally.promptsRunning).toBe(count);
  });

  test.each([
    ['a state that begins again', '<fork>W</fork><goto>W</goto>'],
    ['a judge', '<fork>W</fork><goto>JUDGED</goto>'],
  ])('%s gets more each time that its part was too small', (_, answer) => {
    const stage = makeRun(
      {
        'START.sh': [],
        W: state('on_interrupt: restart'),
        JUDGED: state('evaluators: [{ prompt: W, expect: "YES", then: { tag: goto, target: W } }]'),
      },
      { settings: { budgetUsd: 30 } },
    );
    stage.turn(answer);
    if (stage.agent().state === 'JUDGED.md') stage.turn('<goto>W</goto>');
    for (const part of [1, 2, 4]) {
      expect(stage.start()).toMatchObject([{ state: 'W.md', reservedUsd: part }]);
      stage.end(interrupted(true, part));
    }
  });

  test('a step that waits in a queue does not begin when the money is gone', () => {
    const stage = forked(2, { budgetUsd: 1 });
    for (const [agent] of stage.run.agents) {
      const step = { agent, newSession: agent, executors: { prompt: 'x', script: 'x' } };
      stage.handle({ kind: 'start-step', at: stage.now, ...step, queued: true });
    }
    expect(stage.idle()).toEqual([]);
    stage.run = { ...stage.run, totalCostUsd: 1 };
    expect(stage.idle()).toMatchObject([{ type: 'stop-requested', how: 'drain', why: 'budget' }]);
    expect(stage.idle()).toEqual([]);
  });

  test('maxParallelPrompts is the cap', () => {
    expect(startAll(forked(10, { budgetUsd: 0, maxParallelPrompts: 3 }))).toBe(3);
  });

  test.each([
    ['crashed for nothing', failed('crashed'), 10],
    ['was interrupted for nothing', interrupted(), 10],
    ['crashed and cost 2', failed('crashed', 2), 4],
    ['was interrupted and cost 0.95 of its dollar', interrupted(true, 0.95), 9],
    ['was interrupted at its part and cost 2', interrupted(true, 2), 2],
  ])('after a first turn that %s, the known cost limits the turns', (_, report, count) => {
    const stage = forked(10, { budgetUsd: 10 });
    stage.start();
    stage.end(report);
    stage.handle({ kind: 'time-came', at: stage.now + 60_000, agent: 'main' });
    expect(startAll(stage)).toBe(count);
  });

  test.each(['W', 'S'])(
    'when the budget is spent, no step of %s starts and the run stops',
    (target) => {
      const stage = forked(3, { budgetUsd: 1 }, target);
      stage.run = { ...stage.run, totalCostUsd: 1 };
      expect(stage.start()).toMatchObject([
        { type: 'stop-requested', how: 'drain', why: 'budget' },
      ]);
      expect(stage.start()).toEqual([]);
      expect(stage.idle()).toMatchObject([{ type: 'run-ended', outcome: 'stopped: budget' }]);
    },
  );
});

describe('iterations', () => {
  test('the limit counts the steps of all agents, including scripts', () => {
    const stage = forked(2, { maxIterations: 3, budgetUsd: 0 });
    expect(startAll(stage)).toBe(2);
    stage.end('<goto>W</goto>');
    expect(stage.start()).toMatchObject([
      { type: 'stop-requested', how: 'drain', why: 'iterations' },
    ]);
    stage.end('<goto>W</goto>', running(stage));
    expect(stage.idle()).toMatchObject([{ outcome: 'stopped: iterations' }]);
  });

  test('reminders, retries and judges do not count as steps', () => {
    const front = `allowed_transitions: [{ tag: goto, target: START }, { tag: result }]
evaluators: [{ prompt: J, expect: "YES", then: { tag: result, payload: x } }]`;
    const stage = makeRun({ START: state(front), J: [] }, { settings: { maxIterations: 1 } });
    stage.turn(failed('crashed'));
    stage.handle({ kind: 'time-came', at: stage.now + 60_000, agent: 'main' });
    stage.turn('nothing');
    stage.turn('<goto>START</goto>');
    stage.turn('<result>YES</result>');
    expect(stage.run.iterations).toBe(1);
    expect(stage.start()).toMatchObject([{ why: 'iterations' }]);
  });
});

describe('a step starts', () => {
  test('with the journaled number, attempt, state and session', () => {
    const stage = makeRun({ START: [] });
    expect(stage.start()).toEqual([
      {
        type: 'step-started',
        at: expect.any(Number),
        agent: 'main',
        step: 1,
        attempt: 1,
        state: 'START.md',
        task: 'state',
        session: { use: 'fresh', id: 's1' },
        executor: 'scripted',
        reservedUsd: 10,
      },
    ]);
  });

  test('as a script without a session', () => {
    expect(makeRun({ 'START.sh': [] }).start()[0]).not.toHaveProperty('session');
  });

  test.each([
    ['goto', { use: 'continue', id: 's1' }],
    ['reset', { use: 'fresh', id: 's2' }],
    ['call return="START"', { use: 'branch', from: 's1', id: 's2' }],
    ['function return="START"', { use: 'fresh', id: 's2' }],
  ])('after %s in its session', (tag, session) => {
    const stage = makeRun({ START: [] });
    stage.turn(`<${tag}>START</${tag.split(' ')[0]}>`);
    expect(stage.start()).toMatchObject([{ session }]);
  });

  test('by the executor of the agent that the state or its workflow names', () => {
    const stage = makeRun({ START: [], OTHER: state('agent: claude') });
    const taken = (agent: string) => {
      const executors = { script: 'script' };
      const input = { at: stage.now, agent, newSession: 's9', executors };
      return stage.handle({ kind: 'start-step', ...input });
    };
    expect(taken('main')).toMatchObject([{ executor: 'claude' }]);
  });

  describe('in a session of another executor', () => {
    const begin = (stage: Stage, prompt: string) =>
      stage.handle({
        kind: 'start-step',
        at: stage.now,
        agent: 'main',
        newSession: 'new',
        executors: { prompt, script: 'script' },
      });

    test.each([
      ['goto', 'START'],
      ['call return="START"', 'START'],
    ])('after %s it begins a new one', (tag, target) => {
      const stage = makeRun({ START: [] });
      stage.turn(`<${tag}>${target}</${tag.split(' ')[0]}>`);
      expect(begin(stage, 'another')).toMatchObject([{ session: { use: 'fresh', id: 'new' } }]);
    });

    test('a caller continues its own session', () => {
      const stage = makeRun({ START: [], CALLEE: [] });
      stage.turn('<call return="START">CALLEE</call>');
      begin(stage, 'another');
      stage.end('<result>x</result>');
      expect(begin(stage, 'scripted')).toMatchObject([{ session: { use: 'continue', id: 's1' } }]);
    });

    test('a reminder becomes the prompt of the state', () => {
      const stage = makeRun({ START: state('allowed_transitions: [{ tag: result }]') });
      stage.turn('no tag');
      expect(stage.agent().status).toMatchObject({ task: { kind: 'reminder' } });
      expect(begin(stage, 'another')).toMatchObject([{ task: 'state', session: { use: 'fresh' } }]);
      expect(stage.agent().status).toMatchObject({ kind: 'running', task: { kind: 'state' } });
    });
  });

  test.each([
    ['the agent does not exist', (stage: Stage) => stage.start('nobody')],
    ['the agent runs', (stage: Stage) => [stage.start(), stage.start()][1]],
    ['the run stops', (stage: Stage) => [stage.stop('drain'), stage.start()][1]],
    ['the run has ended', (stage: Stage) => [stage.stop('now'), stage.idle(), stage.start()][2]],
  ])('not when %s', (_, start) => expect(start(makeRun({ START: [] }))).toEqual([]));
});

describe('usage limit', () => {
  test('all prompts wait until it is over, and scripts continue', () => {
    const stage = forked(3, { budgetUsd: 0 });
    const [second = ''] = [...stage.run.agents].map(([id]) => id).filter((id) => id !== 'main');
    stage.turn(failed('usage-limit', 0, { resetsAt: stage.now + 100_000 }));
    expect(stage.start(second)).toEqual([]);
    expect(stage.start()).toEqual([]);
    stage.now += 200_000;
    expect(types(stage.handle({ kind: 'usage-limit-over', at: stage.now }))).toEqual([
      'usage-limit-lifted',
    ]);
    expect(startAll(stage)).toBe(3);
  });
});
