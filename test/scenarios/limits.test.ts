import { describe, expect, test } from 'vitest';
import { scriptedAgent } from '../../src/execute/rehearsal/scripted.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import type { RunEvent, Settings } from '../../src/model/event.ts';
import { type PlayOptions, play, scriptedWorkflow } from '../../src/testing.ts';
import { playRun } from '../../src/workflow-tests/play.ts';
import { stagePorts } from '../stage-ports.ts';

const tenForks = `${'<fork>WORKER</fork>'.repeat(10)}<goto>END</goto>`;

/** A script forks ten children with the same cost. */
function crew(costUsd: number, options: PlayOptions) {
  return play(
    {
      'START.sh': [tenForks],
      WORKER: () => ({ text: '<result>x</result>', costUsd }),
      'END.sh': ['<result>out</result>'],
    },
    options,
  );
}

describe('ten agents under a budget', () => {
  test('expensive ones: each may exceed its part by a call, and a higher budget finishes the run', async () => {
    const stopped = await crew(0.9, { settings: { budgetUsd: 1, maxParallelPrompts: 2 } });
    expect(stopped.steps.filter(({ state }) => state === 'WORKER.md')).toHaveLength(2);
    expect(stopped.run.totalCostUsd).toBe(1.8);
    expect(stopped.run.status).toEqual({ kind: 'ended', outcome: 'stopped: budget' });

    const resumed = await crew(0.9, { settings: { budgetUsd: 20 }, resume: stopped.run });
    expect(resumed.steps).toHaveLength(8);
    expect(resumed.run.totalCostUsd).toBeCloseTo(9);
    expect(resumed.run.status).toEqual({ kind: 'ended', outcome: 'completed' });
  });

  test('they start together', async () => {
    const { events, run } = await crew(0.01, { settings: { budgetUsd: 1 } });
    let running = 0;
    const most = events.map((event) => {
      if (event.type === 'step-started' && event.session) running++;
      if (event.type === 'step-ended' && event.cost.usd > 0) running--;
      return running;
    });
    expect(Math.max(...most)).toBe(10);
    expect(run.status).toEqual({ kind: 'ended', outcome: 'completed' });
  });
});

/** One place, five agents. While an agent has no prompt to take, the next one begins. */
test.each<[string, string, readonly number[]]>([
  ['goes on', '<goto>W</goto>', [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]],
  ['is reminded', 'I have forgotten the tag.', [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]],
  ['returns from a script', '<call return="W">S</call>', [1, 2, 1, 2, 3, 4, 3, 4, 5, 5]],
  [
    'returns from a prompt',
    '<function return="W">F</function>',
    [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5],
  ],
  ['is answered', '<ask next="W">May I?</ask>', [1, 2, 1, 2, 3, 4, 3, 4, 5, 5]],
])('an agent that %s goes before those that have not begun', async (_, first, expected) => {
  const begun = new Set<string>();
  const { steps } = await play(
    {
      'START.sh': [`${'<fork>W</fork>'.repeat(5)}<goto>END</goto>`],
      W: {
        text: '---\nallowed_transitions: [{ tag: result }, { tag: goto, target: W }, { tag: call, target: S, return: W }, { tag: function, target: F, return: W }, { tag: ask, next: W }]\n---\nWork.',
        answers: ({ agent }) => {
          if (begun.has(agent)) return '<result>x</result>';
          begun.add(agent);
          return first;
        },
      },
      F: () => '<result>y</result>',
      'S.sh': () => '<result>y</result>',
      'END.sh': ['<result>out</result>'],
    },
    { settings: { maxParallelPrompts: 1, budgetUsd: 0 }, answers: Array(5).fill('yes') },
  );
  const order = steps.flatMap(({ agent, session }) => (session ? agent : []));
  expect(order).toEqual(expected.map((n) => `main_w${n}`));
});

test('iterations: the run takes the given number of steps and stops cleanly, and a resume may take more', async () => {
  const loop = { START: () => '<goto>START</goto>' };
  const stopped = await play(loop, { settings: { maxIterations: 3 } });
  expect(stopped.steps).toHaveLength(3);
  expect(stopped.run.status).toEqual({ kind: 'ended', outcome: 'stopped: iterations' });
  const resumed = await play(loop, { settings: { maxIterations: 5 }, resume: stopped.run });
  expect(resumed.steps).toHaveLength(2);
});

describe('usage limit', () => {
  const limited = {
    failure: { kind: 'usage-limit', message: 'Limit.', resetsAt: Date.UTC(2026, 0, 2) },
  } as const;
  const sooner = { failure: { ...limited.failure, resetsAt: Date.UTC(2026, 0, 1, 1) } };
  const flow = {
    'START.sh': ['<fork next="A">B</fork>'],
    A: [limited, '<result>a</result>'],
    B: [sooner, '<result>b</result>'],
  };

  test('every agent of the run waits for the latest reset, and this does not count as a retry', async () => {
    const { run, events } = await play(flow, { settings: { budgetUsd: 0 } });
    expect(run.status).toEqual({ kind: 'ended', outcome: 'completed' });
    const lifted = events.find(({ type }) => type === 'usage-limit-lifted')?.at ?? 0;
    expect(lifted).toBeGreaterThan(Date.UTC(2026, 0, 2));
    const afterwards = events.filter((e) => e.type === 'step-started' && e.at >= lifted);
    expect(afterwards).toHaveLength(2);
  });

  test('--no-wait pauses instead', async () => {
    const { run } = await play(flow, { settings: { budgetUsd: 0, wait: false } });
    expect(run.status).toEqual({ kind: 'ended', outcome: 'paused' });
    expect(run.tally.ready).toBe(2);
  });
});

describe('a usage limit of one of several agents', () => {
  const start = Date.UTC(2026, 0, 1);
  /** Codex reports a limit in its first step. The other agent takes ten steps. */
  async function both(settings: Partial<Settings>, other = 'claude') {
    const flow = {
      'START.sh': [`${'<fork>CODEX</fork>'.repeat(3)}<fork next="END">OTHER</fork>`],
      'END.sh': ['<result>out</result>'],
      CODEX: { text: '---\nagent: codex\n---\nWork.', answers: [] },
      OTHER: { text: `---\nagent: ${other}\n---\nWork.`, answers: [] },
    };
    const workflow = scriptedWorkflow(flow);
    let [codexSteps, otherSteps] = [0, 0];
    const codex = scriptedAgent(() => {
      codexSteps += 1;
      if (codexSteps > 1) return '<result>c</result>';
      return {
        failure: { kind: 'usage-limit', message: 'Limit.', resetsAt: start + 3_600_000 },
      };
    }, 'codex');
    const second = scriptedAgent(() => {
      otherSteps += 1;
      return otherSteps < 10 ? '<goto>OTHER</goto>' : '<result>d</result>';
    }, other);
    const script = scriptedAgent(({ state }) =>
      state === 'END.sh' ? '<result>out</result>' : (flow['START.sh'][0] ?? ''),
    );
    return playRun(
      {
        start: {
          ...{ run: 'r', workflow: workflow.ref, state: workflow.entry, cwd: '/project' },
          settings: { ...newRun.settings, ...settings },
          metadata: {},
        },
      },
      {
        ...stagePorts({ workflows: () => workflow }),
        replies: [],
        executors: { prompt: new Map(Object.entries({ codex, [other]: second })), script },
      },
    );
  }

  test('makes only its own prompts wait, even those before others in the queue', async () => {
    const { run, events } = await both({ budgetUsd: 0, maxParallelPrompts: 1 });
    expect(run.status).toEqual({ kind: 'ended', outcome: 'completed' });
    expect(run.limits).toEqual({});
    const [limited, lifted] = momentsOf(events);
    expect(events[limited]).toMatchObject({ executor: 'codex' });
    expect(events[lifted]).toMatchObject({ executor: 'codex' });
    expect(new Set(takers(events.slice(limited, lifted)))).toEqual(new Set(['claude']));
    expect(takers(events.slice(lifted))).toEqual(['codex', 'codex', 'codex']);
  });

  test('makes the prompts of agents wait that share its provider', async () => {
    const { run, events } = await both({ budgetUsd: 0 }, 'codex-acp');
    expect(run.status).toEqual({ kind: 'ended', outcome: 'completed' });
    const [limited, lifted] = momentsOf(events);
    expect(takers(events.slice(limited, lifted))).toEqual([]);
    expect(new Set(takers(events.slice(lifted)))).toEqual(new Set(['codex', 'codex-acp']));
  });

  const momentsOf = (events: readonly RunEvent[]) => {
    const limited = events.findIndex(({ type }) => type === 'usage-limited');
    const lifted = events.findIndex(({ type }) => type === 'usage-limit-lifted');
    return [limited, lifted] as const;
  };
  const takers = (some: readonly RunEvent[]) =>
    some.flatMap((event) => (event.type === 'step-started' ? [event.executor] : []));
});
