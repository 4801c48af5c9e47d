import { expect, test } from 'vitest';
import { testClock } from '../../test/journal/test-clock.ts';
import { makeRun, type StageOptions } from '../../test/make-run.ts';
import { MemoryRuns, memoryStore } from '../../test/memory-store.ts';
import { stagePorts } from '../../test/stage-ports.ts';
import { type ScriptedAnswer, scriptedAgent } from '../execute/rehearsal/scripted.ts';
import { apply } from '../interpret/apply.ts';
import { newRun } from '../interpret/new-run.ts';
import type { RunEvent } from '../model/event.ts';
import type { Input } from '../model/input.ts';
import type { Run } from '../model/run.ts';
import { RunLost } from '../model/run-lost.ts';
import type { Executor, Person, Reply } from '../ports.ts';
import type { Script } from '../testing.ts';
import { type Carrying, carryRun } from './carry-run.ts';

const ASK = '<ask next="NEXT">which colour?</ask>';
const ASK_WITH_TIME = '<ask next="NEXT" timeout="24h" timeout_next="NEXT">which colour?</ask>';
const FLOW: Script = { START: [], NEXT: [] };

/** A host that has neither terminal nor process: what it carries is in memory. */
function host(answer: (state: string) => ScriptedAnswer | Promise<ScriptedAnswer>) {
  const log: string[] = [];
  const agent = scriptedAgent((step) => {
    log.push(`execute ${step.state}`);
    return answer(step.state);
  });
  const executor: Executor = {
    ...agent,
    start(step, live, ask) {
      const running = agent.start(step, live, ask);
      const stop = () => {
        log.push(`stop ${step.state}`);
        running.stop();
      };
      return { ...running, stop };
    },
  };
  const { clock, moveTo, calls } = testClock(2_000_000);
  const kept: RunEvent[] = [];
  const types = () => kept.map(({ type }) => type);
  const carry = (
    more: Partial<Carrying> = {},
    first: readonly Input[] = [],
    options: StageOptions & { readonly run?: Run } = {},
  ) => {
    const stage = makeRun(FLOW, options);
    return carryRun(options.run ?? stage.run, first, {
      ...stagePorts(stage),
      executors: { prompt: executor, script: executor, leave: () => void log.push('leave') },
      journal: { append: async (events) => void kept.push(...events) },
      clock,
      newId: () => 's1',
      observers: [],
      observerFailed: (name, error) => void log.push(`${name}: ${error}`),
      ...more,
    });
  };
  return { log, types, carry, moveTo, calls };
}

/** Resolves when it is called; steps wait for it. */
function gate() {
  let open = (_answer: string) => {};
  const answer = new Promise<string>((resolve) => {
    open = resolve;
  });
  return { open, answer };
}

const done = () => '<result>done</result>';

test('gives the run that ended, and leaves no timer behind', async () => {
  const { carry, types, calls } = host(done);
  const carried = await carry({ confirm: async () => {} });
  expect(carried).toMatchObject({
    kind: 'ended',
    run: { result: 'done', status: { kind: 'ended', outcome: 'completed' } },
  });
  expect(types()).toEqual(['step-started', 'step-ended', 'agent-ended', 'run-ended']);
  expect(calls.size).toBe(0);
});

test.each([
  ['drain', ['execute START.md'], ['step-started', 'stop-requested', 'step-ended', 'agent-moved']],
  ['now', ['execute START.md', 'stop START.md'], ['step-started', 'stop-requested']],
] as const)('a request to stop (%s) is an input', async (how, acts, first) => {
  const { answer, open } = gate();
  const { carry, log, types } = host(() => answer);
  const heard: string[] = [];
  let ask: (how: 'drain' | 'now') => void = () => {};
  const carried = await carry({
    observers: [
      [
        'test',
        {
          event(event) {
            if (event.type === 'step-started') ask(how);
            if (event.type === 'stop-requested') open('<goto>NEXT</goto>');
          },
          live: () => {},
        },
      ],
    ],
    stops: (stop) => {
      ask = stop;
      return () => void heard.push('no more stops');
    },
  });
  expect(carried).toMatchObject({ run: { status: { outcome: 'interrupted' } } });
  expect(log).toEqual(acts);
  expect(types().slice(0, first.length)).toEqual(first);
  expect(types().at(-1)).toBe('run-ended');
  expect(heard).toEqual(['no more stops']);
});

/** Notes what they are asked, and answers as the test says. */
function personWho(reacts: (reply: Reply) => void) {
  const log: string[] = [];
  let isPresent = true;
  const person: Person = {
    ask({ agent, question }, reply) {
      log.push(`${agent} asks ${question}`);
      reacts({
        ...reply,
        leave() {
          isPresent = false;
          reply.leave();
        },
      });
    },
    withdraw: (agent) => void log.push(`withdraw ${agent}`),
    isPresent: () => isPresent,
    close: () => void log.push('close'),
  };
  return { person, log };
}

test('a person is asked, and the reply answers the agent that asked', async () => {
  const { carry, types } = host((state) => (state === 'NEXT.md' ? done() : ASK));
  const { person, log } = personWho((reply) => reply.answer('red'));
  expect(await carry({ person })).toMatchObject({ run: { status: { outcome: 'completed' } } });
  expect(log).toEqual(['main asks which colour?', 'withdraw main', 'close']);
  expect(types()).toContain('agent-answered');
});

test('the run does not wait for a person who leaves', async () => {
  const { carry } = host(() => ASK);
  const { person } = personWho((reply) => setImmediate(() => reply.leave()));
  expect(await carry({ person })).toMatchObject({ run: { status: { outcome: 'waiting' } } });
});

test('a run without a person does not wait for an answer', async () => {
  const { carry } = host(() => ASK);
  expect(await carry()).toMatchObject({ run: { status: { outcome: 'waiting' } } });
});

test.each([
  ['is put to the person', undefined, ['main asks which colour?', 'withdraw main', 'close']],
  ['is not, when the value of the resume answers it', 'blue', ['withdraw main', 'close']],
] as const)('a question of an earlier process %s', async (_, input, expected) => {
  const stage = makeRun(FLOW);
  stage.turn(ASK);
  stage.idle();
  const { carry } = host(done);
  const { person, log } = personWho((reply) => reply.answer('red'));
  const { settings } = stage.run;
  const resume = { kind: 'resume', at: stage.now, settings, input } as const;
  const carried = await carry({ person }, [resume], { run: stage.run });
  expect(carried).toMatchObject({ run: { status: { outcome: 'completed' } } });
  expect(log).toEqual(expected);
});

test('an observer that fails is left out, and the run continues', async () => {
  const { carry, log } = host(done);
  const seen: string[] = [];
  const broken = { event: fail, live: fail, close: fail };
  const good = {
    event: ({ type }: RunEvent) => void seen.push(type),
    live: () => {},
    close: async () => void seen.push('close'),
  };
  const observers = [['broken', broken] as const, ['good', good] as const];
  expect(await carry({ observers })).toMatchObject({ kind: 'ended' });
  expect(log).toEqual(['broken: Error: full', 'execute START.md', 'broken: Error: full']);
  expect(seen.slice(-2)).toEqual(['run-ended', 'close']);
});

function fail(): never {
  throw new Error('full');
}

const losses = [
  ['elsewhere: its steps are stopped', new RunLost('lost', 'Lost.', 'Look.'), ['stop START.md']],
  [
    'to a process that has adopted its steps: they are left',
    new RunLost('lost', 'Lost.', 'Look.', { leavesSteps: true }),
    // In this order: a step that was left cannot be stopped any more.
    ['leave', 'stop START.md'],
  ],
] as const;

test.each(losses)('a run that is lost %s (found while it waits)', async (_, loss, acts) => {
  const { carry, log, types, moveTo } = host(() => gate().answer);
  let isLost = false;
  const carried = carry({
    confirm: () => (isLost ? Promise.reject(loss) : Promise.resolve()),
    observers: [['test', { event: lose, live: () => {} }]],
  });
  function lose({ type }: RunEvent) {
    if (type !== 'step-started') return;
    isLost = true;
    setImmediate(() => moveTo(3_000_000));
  }
  expect(await carried).toEqual({ kind: 'lost', loss });
  expect(log).toEqual(['execute START.md', ...acts]);
  expect(types()).toEqual(['step-started']);
});

test.each(losses)('a run that is lost %s (found by an append)', async (_, loss, acts) => {
  const { answer } = gate();
  const { carry, log } = host(() => answer);
  const kept: RunEvent[] = [];
  const shown: string[] = [];
  const carried = await carry({
    journal: {
      async append(events) {
        if (kept.length > 0) throw loss;
        kept.push(...events);
      },
    },
    observers: [['test', { event: ({ type }) => void shown.push(type), live: () => {} }]],
    stops: (stop) => {
      setImmediate(() => stop('drain'));
      return () => {};
    },
  });
  expect(carried).toEqual({ kind: 'lost', loss });
  expect(log).toEqual(['execute START.md', ...acts]);
  expect(shown).toEqual(['step-started']);
});

/** Two processes that share the runs of a store in memory. */
async function stored() {
  const runs = new MemoryRuns();
  const processOf = (pid: number) =>
    memoryStore({
      apply: (run, event) => apply(run ?? newRun, event),
      sealedText: ({ id }) => id,
      self: { pid, started: '1', boot: 'b', name: 'process 1', isHere: true },
      runs,
    });
  const { run, events } = makeRun(FLOW);
  const store = processOf(1);
  const lease = await store.lease(run.id);
  const { journal } = await lease.create(events, run);
  const mail = { mailbox: store.mailbox(run.id), pid: 1, report: () => {} };
  const fallSilent = () => runs.expire(run.id);
  return {
    run,
    store,
    other: processOf(2),
    held: { journal, confirm: lease.confirm, mail },
    fallSilent,
  };
}

test('an answer through the mailbox is taken, and removed when the store has what followed', async () => {
  const { run, store, other, held } = await stored();
  const { carry } = host((state) => (state === 'NEXT.md' ? done() : ASK_WITH_TIME));
  const left: number[] = [];
  const carried = await carry(
    {
      ...held,
      observers: [['test', { event: (event) => void post(event), live: () => {} }]],
    },
    [],
    { run },
  );
  async function post(event: RunEvent) {
    if (event.type === 'agent-asked')
      await other
        .mailbox(run.id)
        .post({ kind: 'answer', agent: 'main', askedAt: event.at, text: 'red' });
    if (event.type === 'agent-answered') left.push((await other.mailbox(run.id).messages()).length);
  }
  expect(carried).toMatchObject({ run: { status: { outcome: 'completed' } } });
  expect(left).toEqual([0]);
  expect(await store.look(run.id)).toMatchObject({
    run: { seq: carried.kind === 'ended' ? carried.run.seq : 0 },
  });
});

test('a lease that another process took over is a loss, and nothing more is appended', async () => {
  const { run, other, held, fallSilent } = await stored();
  const { carry, log, types } = host(() => gate().answer);
  const carried = await carry(
    {
      ...held,
      stops: (stop) => {
        setImmediate(async () => {
          fallSilent();
          await other.lease(run.id);
          stop('drain');
        });
        return () => {};
      },
    },
    [],
    { run },
  );
  expect(carried).toMatchObject({ kind: 'lost', loss: { code: 'lock-lost' } });
  expect(log).toEqual(['execute START.md', 'stop START.md']);
  expect(types()).toEqual([]);
  expect(await other.look(run.id)).toMatchObject({
    owner: { pid: 2 },
    run: { status: { kind: 'active' } },
  });
});

test('other trouble with the journal is thrown, after the steps have been stopped', async () => {
  const { carry, log, types } = host(() => gate().answer);
  let appends = 0;
  const carried = carry({
    journal: {
      async append() {
        if (++appends > 1) throw new Error('disk full');
      },
    },
    stops: (stop) => {
      setImmediate(() => stop('drain'));
      return () => {};
    },
  });
  await expect(carried).rejects.toThrow('disk full');
  expect(log).toEqual(['execute START.md', 'stop START.md']);
  expect(types()).toEqual([]);
});
