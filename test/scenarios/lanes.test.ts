import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ScriptedAnswer, scriptedAgent } from '../../src/execute/rehearsal/scripted.ts';
import { apply } from '../../src/interpret/apply.ts';
import { newRun } from '../../src/interpret/new-run.ts';
import type { RunEvent, RunEventOf, Settings } from '../../src/model/event.ts';
import type { FailureKind } from '../../src/model/failure.ts';
import type { Run } from '../../src/model/run.ts';
import type { Step } from '../../src/ports.ts';
import { type Script, scriptedWorkflow } from '../../src/testing.ts';
import { playRun } from '../../src/workflow-tests/play.ts';
import { stagePorts } from '../stage-ports.ts';

const HOUR = 3_600_000;
const START = Date.UTC(2026, 0, 1);
const AGENTS = ['claude', 'codex', 'gemini'] as const;

type Reply = (step: Step & { readonly kind: 'prompt' }, agent: string) => ScriptedAnswer;

interface Options {
  readonly settings?: Partial<Settings>;
  readonly resume?: Run;
}

/** Each agent has its own executor, and each call of one is counted. */
async function playLanes(flow: Script, reply: Reply, { settings, resume }: Options = {}) {
  const workflow = scriptedWorkflow(flow);
  const calls: string[] = [];
  const executors = AGENTS.map((name) => {
    const executor = scriptedAgent((step) => {
      if (step.kind !== 'prompt') throw new Error(`${name} got a script`);
      const { model } = step.choices;
      calls.push([name, ...(model === undefined ? [] : [model])].join(' '));
      return reply(step, name);
    }, name);
    return [name, executor] as const;
  });
  const script = scriptedAgent(({ state }) => {
    const answers = flow[state];
    return (Array.isArray(answers) ? answers[0] : undefined) ?? '<result>script</result>';
  });
  const all = { ...newRun.settings, budgetUsd: 0, ...settings };
  const start = {
    ...{ run: 'r', workflow: workflow.ref, state: workflow.entry, cwd: '/project' },
    ...{ settings: all, metadata: {} },
  };
  const played = await playRun(resume ? { resume, settings: all, input: undefined } : { start }, {
    ...stagePorts({ workflows: () => workflow }),
    replies: [],
    executors: { prompt: new Map(executors), script },
  });
  return { ...played, calls };
}

const prompt = (front: string) => ({ text: `---\n${front}\n---\nWork.`, answers: [] });
const LANES = prompt('agent: [claude, codex]');

const failure = (kind: FailureKind, resetsAt?: number): ScriptedAnswer => ({
  failure: { kind, message: `It is ${kind}.`, ...(resetsAt !== undefined && { resetsAt }) },
});
const limited = failure('usage-limit', START + HOUR);

/** Gives the answers of each agent in order, and `<result>` after the last one. */
function inOrder(answers: Readonly<Record<string, readonly ScriptedAnswer[]>>): Reply {
  const used = new Map<string, number>();
  return (step, agent) => {
    const model = step.choices.model;
    const name = answers[agent] || model === undefined ? agent : `${agent} ${model}`;
    const count = used.get(name) ?? 0;
    used.set(name, count + 1);
    return answers[name]?.[count] ?? `<result>${name}</result>`;
  };
}

const startedIn = (events: readonly RunEvent[]) =>
  events.filter((event): event is RunEventOf<'step-started'> => event.type === 'step-started');

describe('a fresh session', () => {
  test('goes to the next lane at a usage limit, and the journal says who took it and why', async () => {
    const { run, events } = await playLanes({ START: LANES }, inOrder({ claude: [limited] }));
    expect(run.result).toBe('codex');
    const until = START + HOUR + 60_000;
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'usage-limited', executor: 'claude', until, next: 'codex' }),
    );
    expect(startedIn(events)).toMatchObject([
      { executor: 'claude', lane: { agent: 'claude' }, session: { use: 'fresh' } },
      {
        executor: 'codex',
        session: { use: 'fresh' },
        lane: { agent: 'codex', passed: [{ lane: 'claude', why: 'usage-limit', until }] },
      },
    ]);
    expect(events.at(-1)?.at).toBeLessThan(START + HOUR);
  });

  test('of a fork, a function and a reset goes there at once, and to the first lane after the limit', async () => {
    const flow = {
      START: LANES,
      'FORKS.sh': ['<fork>LANED</fork><goto>NEXT</goto>'],
      'NEXT.sh': ['<function return="WAITS">LANED</function>'],
      LANED: LANES,
      WAITS: prompt('agent: claude'),
      LAST: LANES,
    };
    const { run, events, calls } = await playLanes(flow, ({ state }, agent) => {
      if (state === 'START.md') return agent === 'claude' ? limited : '<reset>FORKS</reset>';
      return state === 'WAITS.md' ? '<reset>LAST</reset>' : `<result>${agent}</result>`;
    });
    expect(run.status).toEqual({ kind: 'ended', outcome: 'completed' });
    expect(calls).toEqual(['claude', 'codex', 'codex', 'codex', 'claude', 'claude']);
    const steps = startedIn(events).filter(({ session }) => session);
    // WAITS has no other lane, so the clock passes the end of the limit.
    expect(steps.at(-2)).toMatchObject({ state: 'WAITS.md', executor: 'claude' });
    expect(steps.at(-2)?.at).toBeGreaterThan(START + HOUR);
    expect(steps.at(-1)?.lane).toEqual({ agent: 'claude' });
    expect(run.result).toBe('claude');
  });

  test('waits for the first limit to end if all lanes have reached one', async () => {
    const later = failure('usage-limit', START + 3 * HOUR);
    const { calls, events } = await playLanes(
      { START: LANES },
      inOrder({ claude: [later], codex: [limited] }),
    );
    expect(calls).toEqual(['claude', 'codex', 'codex']);
    const last = startedIn(events).at(-1);
    expect(last?.at).toBeGreaterThan(START + HOUR);
    expect(last?.at).toBeLessThan(START + 2 * HOUR);
  });

  test('leaves a lane whose overload outlasts the retries, and each lane has its own retries', async () => {
    const overloads = Array(4).fill(failure('overloaded'));
    const { calls, run, events } = await playLanes(
      { START: prompt('agent: [claude, codex, gemini]') },
      inOrder({ claude: overloads, codex: overloads }),
    );
    expect(calls).toEqual([...Array(4).fill('claude'), ...Array(4).fill('codex'), 'gemini']);
    expect(run.result).toBe('gemini');
    expect(startedIn(events).at(-1)?.lane?.passed).toMatchObject([
      { lane: 'claude', why: 'overloaded' },
      { lane: 'codex', why: 'overloaded' },
    ]);
  });

  test('leaves all lanes of an agent without a login, in later states too', async () => {
    const flow = { START: prompt('agent: [claude, codex]\nmodel: [opus, sonnet]'), NEXT: LANES };
    const { calls } = await playLanes(flow, ({ state }, agent) => {
      if (agent === 'claude') return failure('not-logged-in');
      return state === 'START.md' ? '<reset>NEXT</reset>' : '<result>x</result>';
    });
    expect(calls).toEqual(['claude opus', 'codex', 'codex']);
  });

  test.each([
    ['overloaded', 4],
    ['not-logged-in', 1],
    ['no-credit', 1],
    ['crashed', 4],
  ] as const)('fails after the last lane, or for another reason: %s', async (kind, each) => {
    const isReason = kind === 'overloaded' || kind === 'not-logged-in';
    const { run, calls } = await playLanes({ START: LANES }, () => failure(kind));
    expect(run.status).toEqual({ kind: 'ended', outcome: 'failed' });
    expect(calls).toHaveLength(isReason ? 2 * each : each);
  });

  test('tries an overloaded lane again while the others wait for their limits', async () => {
    const { calls, run, events } = await playLanes(
      { START: prompt('agent: [codex, claude]') },
      inOrder({ codex: [limited], claude: Array(6).fill(failure('overloaded')) }),
    );
    expect(run.result).toBe('claude');
    expect(calls.filter((name) => name === 'claude')).toHaveLength(7);
    expect(events.at(-1)?.at).toBeLessThan(START + HOUR);
  });

  test('with --no-wait, pauses only if no lane is left', async () => {
    const settings = { wait: false };
    const one = await playLanes({ START: LANES }, inOrder({ claude: [limited] }), { settings });
    expect(one.run.status).toEqual({ kind: 'ended', outcome: 'completed' });
    const both = inOrder({ claude: [limited], codex: [limited] });
    const { run } = await playLanes({ START: LANES }, both, { settings });
    expect(run.status).toEqual({ kind: 'ended', outcome: 'paused' });
  });
});

describe('a session', () => {
  test('that continues waits for its own lane', async () => {
    const flow = { START: LANES, NEXT: LANES };
    const { calls, events, run } = await playLanes(
      flow,
      inOrder({ claude: ['<goto>NEXT</goto>', limited] }),
    );
    expect(calls).toEqual(['claude', 'claude', 'claude']);
    expect(run.status).toEqual({ kind: 'ended', outcome: 'completed' });
    const [first, , last] = startedIn(events);
    expect(last?.session).toEqual({ use: 'continue', id: first?.session?.id });
    expect(last?.at).toBeGreaterThan(START + HOUR);
  });

  test('stays with the agent that began it when the first lane is free again', async () => {
    const flow = { START: LANES, NEXT: LANES, 'WAIT.sh': ['<goto>LAST</goto>'], LAST: LANES };
    const soon = failure('usage-limit', START);
    const seen = new Set<string>();
    const { calls, events } = await playLanes(flow, ({ state }, agent) => {
      if (agent === 'claude') return soon;
      if (state === 'START.md') return '<goto>NEXT</goto>';
      // Its own limit makes the clock pass the end of the other one.
      return state === 'NEXT.md' && !seen.has(agent) && seen.add(agent)
        ? failure('usage-limit', START + HOUR)
        : '<result>x</result>';
    });
    expect(calls).toEqual(['claude', 'codex', 'codex', 'codex']);
    expect(startedIn(events).at(-1)).toMatchObject({
      executor: 'codex',
      session: { use: 'continue' },
      lane: { agent: 'codex' },
    });
  });

  test('that hands over waits for its own lane, and the next one takes the first that is free', async () => {
    const flow = { START: LANES, NEXT: LANES };
    const { calls, events, run } = await playLanes(
      flow,
      inOrder({
        claude: ['<compact>NEXT</compact>', limited, 'Mind the tests.', limited],
        codex: ['<result>codex</result>'],
      }),
    );
    expect(calls).toEqual(['claude', 'claude', 'claude', 'claude', 'codex']);
    const [first, asked, again, passed, last] = startedIn(events);
    for (const step of [asked, again])
      expect(step).toMatchObject({
        task: 'handover',
        lane: { agent: 'claude' },
        session: { use: 'continue', id: first?.session?.id },
      });
    expect(again?.at).toBeGreaterThan(START + HOUR);
    expect(passed).toMatchObject({ state: 'NEXT.md', session: { use: 'fresh' } });
    expect(last).toMatchObject({
      state: 'NEXT.md',
      session: { use: 'fresh' },
      lane: { agent: 'codex', passed: [{ lane: 'claude', why: 'usage-limit' }] },
    });
    expect(run.result).toBe('codex');
  });

  test('begins with the handover in whatever lane', async () => {
    const prompts: string[] = [];
    const soon = failure('usage-limit', START + 2 * HOUR);
    const answers = ['<compact>NEXT</compact>', 'Mind the tests.', soon];
    const { run } = await playLanes({ START: LANES, NEXT: LANES }, ({ prompt }, agent) => {
      if (agent === 'claude') return answers.shift() ?? '<result>claude</result>';
      prompts.push(prompt);
      return '<result>codex</result>';
    });
    expect(run.result).toBe('codex');
    expect(prompts).toEqual([expect.stringContaining('Mind the tests.')]);
  });

  test('that another agent has is handed over by that agent, whatever lanes the left state has', async () => {
    const flow = {
      START: prompt('agent: codex'),
      'LEAVES.sh': ['<compact>NEXT</compact>'],
      NEXT: LANES,
    };
    const { calls, events } = await playLanes(
      flow,
      inOrder({ codex: ['<goto>LEAVES</goto>', 'Mind the tests.'] }),
      { settings: { agent: { model: ['opus', 'sonnet'] } } },
    );
    expect(calls).toEqual(['codex', 'codex', 'claude opus']);
    expect(startedIn(events)[2]).toMatchObject({ task: 'handover', executor: 'codex' });
  });

  test('of the model that fills placeholders is no lane of the state', async () => {
    const flow = {
      START: {
        text: '---\nagent: [codex, claude]\nmodel: { claude: [opus, sonnet] }\nfill: haiku\n---\nWrite {{subject}}.',
        answers: [],
      },
    };
    const { calls, events, run } = await playLanes(
      flow,
      inOrder({
        'claude haiku': ['I forgot.', '{"subject": "x"}'],
        codex: [limited],
      }),
    );
    expect(calls).toEqual(['claude haiku', 'claude haiku', 'codex', 'claude opus']);
    const [asked, reminded, ...own] = startedIn(events);
    expect([asked?.lane, reminded?.lane]).toEqual([undefined, undefined]);
    expect(reminded).toMatchObject({
      task: 'fill',
      session: { use: 'continue', id: asked?.session?.id },
    });
    expect(own.map(({ lane }) => lane?.agent)).toEqual(['codex', 'claude']);
    expect(run.result).toBe('claude opus');
  });

  test('of the model that fills closes that model at a usage limit, and no lane of its agent', async () => {
    const flow = {
      'START.sh': ['<fork>FILLED</fork><goto>OTHER</goto>'],
      FILLED: { text: '---\nmodel: sonnet\nfill: haiku\n---\nWrite {{subject}}.', answers: [] },
      OTHER: prompt('model: [opus, sonnet]'),
    };
    const replies: Record<string, ScriptedAnswer[]> = {
      'claude haiku': [limited, '{"subject": "x"}'],
      'claude sonnet': ['<result>filled</result>'],
    };
    const { calls, events, run } = await playLanes(flow, inOrder(replies));
    expect(calls.filter((call) => call === 'claude haiku')).toHaveLength(2);
    expect(events.filter(({ type }) => type === 'usage-limited')).toMatchObject([
      { executor: 'claude haiku' },
    ]);
    const other = startedIn(events).find(({ state }) => state === 'OTHER.md');
    expect(other?.at).toBeLessThan(START + HOUR);
    expect(startedIn(events).filter(({ task }) => task === 'fill')[1]?.at).toBeGreaterThan(
      START + HOUR,
    );
    expect(run.status).toEqual({ kind: 'ended', outcome: 'completed' });
  });

  test('that is branched stays with it', async () => {
    const flow = { START: LANES, CALLED: LANES, BACK: LANES };
    const { calls, run } = await playLanes(flow, ({ state }, agent) => {
      if (state === 'START.md' && agent === 'claude') return limited;
      return state === 'START.md' ? '<call return="BACK">CALLED</call>' : '<result>x</result>';
    });
    expect(calls).toEqual(['claude', 'codex', 'codex', 'codex']);
    expect(run.status).toEqual({ kind: 'ended', outcome: 'completed' });
  });

  test('keeps its model, and another state may choose another one', async () => {
    const flow = {
      START: prompt('model: [opus, sonnet]'),
      NEXT: prompt('model: [opus, sonnet]'),
      OTHER: prompt('model: haiku'),
    };
    const { calls, events } = await playLanes(
      flow,
      inOrder({
        'claude opus': [limited],
        'claude sonnet': ['<goto>NEXT</goto>', '<goto>OTHER</goto>'],
      }),
    );
    expect(calls).toEqual(['claude opus', 'claude sonnet', 'claude sonnet', 'claude haiku']);
    expect(startedIn(events).map(({ lane }) => lane?.choices?.model)).toEqual([
      ...['opus', 'sonnet', 'sonnet', undefined],
    ]);
  });

  test('of a judge is reminded in its own lane', async () => {
    const flow = {
      START: prompt(
        'allowed_transitions: [{ tag: result }]\nevaluators: [{ prompt: JUDGE, expect: yes, then: { tag: result, payload: no } }]',
      ),
      JUDGE: prompt('agent: [codex, gemini]\nallowed_transitions: [{ tag: result }]'),
    };
    const { calls, events } = await playLanes(
      flow,
      inOrder({
        codex: [failure('usage-limit', START)],
        gemini: ['I forgot the tag.', '<result>yes</result>'],
      }),
    );
    expect(calls).toEqual(['claude', 'codex', 'gemini', 'gemini']);
    const [, , asked, reminded] = startedIn(events);
    expect(reminded).toMatchObject({
      executor: 'gemini',
      session: { use: 'continue', id: asked?.session?.id },
    });
  });
});

const CLAUDE_FIRST = ['claude opus', 'claude sonnet', 'codex'];

describe('who may take a prompt', () => {
  test.each<[string, string, Settings['agent'], readonly string[]]>([
    ['the run', '', { agent: ['claude', 'codex'], model: ['opus', 'sonnet'] }, CLAUDE_FIRST],
    ['the state', 'agent: [claude, codex]\nmodel: [opus, sonnet]', {}, CLAUDE_FIRST],
    [
      'the state by agent',
      'agent: [claude, codex]\nmodel: { claude: opus, codex: [gpt-a, gpt-b] }',
      {},
      ['claude opus', 'codex gpt-a', 'codex gpt-b'],
    ],
    ['a state over the run', 'model: haiku', { model: ['opus', 'sonnet'] }, ['claude haiku']],
  ])('%s', async (_, front, agent, expected) => {
    const settings = { agent: { ...newRun.settings.agent, ...agent } };
    const { calls } = await playLanes(
      { START: prompt(front), 'workflow.yaml': { text: manifestFor(agent), answers: [] } },
      () => failure('usage-limit', START + HOUR),
      { settings: { ...settings, wait: false } },
    );
    expect(calls).toEqual(expected);
  });

  /** The library of a run knows the agents that its user chose. */
  function manifestFor({ agent }: Settings['agent']): string {
    return agent === undefined ? 'name: x\n' : `agent: ${JSON.stringify(agent)}\n`;
  }
});

/** What agents do: they fail, or follow one of the tags. */
const outcome = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom<FailureKind>('usage-limit', 'overloaded') },
  { weight: 1, arbitrary: fc.constantFrom<FailureKind>('not-logged-in', 'crashed') },
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      '<goto>A</goto>',
      '<reset>B</reset>',
      '<call return="A">B</call>',
      '<function return="B">A</function>',
      '<fork next="A">B</fork>',
      '<result>x</result>',
    ),
  },
);

const lanes = fc.uniqueArray(fc.constantFrom(...AGENTS), { minLength: 1, maxLength: 3 });

describe('for any failures of three agents', () => {
  const played = (plan: readonly string[], [a, b]: readonly (readonly string[])[]) => {
    let calls = 0;
    const flow = {
      START: prompt(`agent: [${a?.join(', ')}]`),
      A: prompt(`agent: [${a?.join(', ')}]`),
      B: prompt(`agent: [${b?.join(', ')}]`),
    };
    const reply: Reply = () => {
      const next = plan[calls++];
      if (next === undefined) return { text: '<result>x</result>', costUsd: 1 };
      if (next.startsWith('<')) return { text: next, costUsd: 1 };
      const kind = next as FailureKind;
      return { failure: { kind, message: 'x', resetsAt: START + calls * 10_000 }, costUsd: 1 };
    };
    return { flow, reply };
  };

  test('no session is continued by another agent, every turn is paid once, and no free lane is passed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(outcome, { maxLength: 25 }),
        fc.tuple(lanes, lanes),
        async (plan, both) => {
          const { flow, reply } = played(plan, both);
          const { run, events, calls } = await playLanes(flow, reply, {
            settings: { maxIterations: 40 },
          });
          checkSessions(events);
          expect(calls).toEqual(startedIn(events).map(({ executor }) => executor));
          expect(run.totalCostUsd).toBe(calls.length);
          for (const { lane, state, session } of startedIn(events)) {
            if (!lane || session?.use !== 'fresh') continue;
            const own: readonly string[] = state === 'B.md' ? both[1] : both[0];
            const before = own.slice(0, own.indexOf(lane.agent));
            expect(lane.passed?.map((one) => one.lane) ?? []).toEqual(before);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('a run that dies between two decisions continues with the same agent', async () => {
    await fc.assert(
      fc.asyncProperty(
        // With one agent, the order of the calls is fixed.
        fc.array(
          outcome.filter((one) => !one.startsWith('<fork')),
          { maxLength: 12 },
        ),
        fc.tuple(lanes, lanes),
        fc.nat(),
        async (plan, both, cut) => {
          const whole = played(plan, both);
          const { events } = await playLanes(whole.flow, whole.reply, {
            settings: { maxIterations: 20 },
          });
          const runs = prefixes(events);
          const [at, before] = runs[cut % runs.length] ?? [0, newRun];
          if (before.status.kind !== 'active') return;
          const done = startedIn(events.slice(0, at)).length;
          const rest = played(plan.slice(done), both);
          const after = await playLanes(rest.flow, rest.reply, {
            settings: { maxIterations: 20 },
            resume: before,
          });
          const taker = ({ executor, state }: RunEventOf<'step-started'>) => [executor, state];
          const [next] = startedIn(events.slice(at));
          const [again] = startedIn(after.events);
          if (next && again) expect(taker(again)).toEqual(taker(next));
          checkSessions([...events.slice(0, at), ...after.events]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** The runs between two decisions in which no step runs, with the number of their events. */
function prefixes(events: readonly RunEvent[]): readonly (readonly [number, Run])[] {
  let run = newRun;
  return events.flatMap((event, i) => {
    run = apply(run, event);
    const isResting = [...run.agents].every(
      ([, { status }]) => status.kind === 'ready' || status.kind === 'waiting',
    );
    return isResting ? [[i + 1, run] as const] : [];
  });
}

function checkSessions(events: readonly RunEvent[]): void {
  const owners = new Map<string, string | undefined>();
  for (const { session, executor } of startedIn(events)) {
    if (!session) continue;
    const source = session.use === 'branch' ? session.from : session.id;
    if (session.use === 'fresh') expect(owners.has(session.id)).toBe(false);
    else expect(owners.get(source)).toBe(executor);
    owners.set(session.id, executor);
  }
}
