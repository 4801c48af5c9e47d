// One transaction of a worker, without processes: what happens when it is repeated, late or not alone.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { takeSteps } from '../../src/fleet/claims.ts';
import { KnownRun } from '../../src/fleet/known-run.ts';
import { RunChanged, RunGone, WorkerLost } from '../../src/fleet/lock-run.ts';
import { refuse, termsOf } from '../../src/fleet/refusals.ts';
import { takeDue } from '../../src/fleet/wakeups.ts';
import { buryDead, register } from '../../src/fleet/worker-table.ts';
import { apply } from '../../src/interpret/apply.ts';
import type { Input } from '../../src/model/input.ts';
import { PersistentMap } from '../../src/model/persistent-map.ts';
import type { Run } from '../../src/model/run.ts';
import { NO_COST } from '../../src/model/step-account.ts';
import { readTags } from '../../src/parse/tags.ts';
import type { StepKey } from '../../src/ports.ts';
import { type Database, openDatabase, type Transaction } from '../../src/postgres/database.ts';
import { wake } from '../../src/postgres/run-row.ts';
import { keepOutput } from '../../src/postgres/step-records.ts';
import { loadNamed } from '../../src/world/load-workflows.ts';
import { runCodec } from '../../src/world/run-codec.ts';
import { looseLibrary } from '../../src/world/wire.ts';
import { eventually } from '../eventually.ts';
import { newDatabase } from '../postgres/new-database.ts';
import { startProxy } from '../postgres/proxy.ts';
import { type Turn, type TurnParts, takeTurn as takeKnown } from './decided-turn.ts';
import { Fleet } from './fleet.ts';

const FLOW = {
  'flow/START.sh': 'echo\n',
  'flow/NEXT.sh': 'echo\n',
  'crowd/START.sh': 'echo\n',
  'crowd/LOOP.sh': 'echo\n',
  'crowd/NEXT.sh': 'echo\n',
  'crowd/ONE.md': 'Work.',
  'crew/START.sh': 'echo\n',
  'crew/ONE.md': '---\nagent: claude\n---\nWork.',
  'crew/TWO.md': '---\nagent: codex\n---\nWork.',
};

let fleet: Fleet;
let run: Run;
let removeDatabase = async () => {};

beforeAll(async () => {
  const url = await newDatabase((remove) => {
    removeDatabase = remove;
  });
  fleet = await Fleet.open(url, FLOW);
});

afterAll(async () => {
  await fleet.dispose();
  await removeDatabase();
});

beforeEach(async () => {
  await fleet.database.query('delete from raymond.workers');
  await fleet.database.query('delete from raymond.claims');
  run = await fleet.look(await fleet.begin('flow'));
});

async function newWorker(name: string, leaseMs = 60_000): Promise<TurnParts> {
  const id = randomUUID();
  const facts = { name, host: 'h', pid: 1, place: name, limits: { prompts: 1, scripts: 1 } };
  await register(fleet.database, id, facts, leaseMs);
  const library = looseLibrary(fleet.project.folder, {}).unpackingInto(
    fleet.project.path('unpacked'),
  );
  await library.load(run.workflow);
  await loadNamed(library, run.workflow);
  return {
    database: fleet.database,
    runs: { codec: runCodec, rows: fleet.rows },
    worker: { id, name, place: name },
    library,
    load: async () => {},
    executors: { script: 'script' },
    newId: randomUUID,
    openLetter: fleet.openLetter,
    pack: () => Promise.reject(new Error('No workflow is read.')),
  };
}

/** A turn of a worker that knows the run only as it was then. */
const takeTurn = async (parts: TurnParts, then: Run, turn: Turn) =>
  takeKnown(parts, await fleet.known(parts.library.get, then), turn);

const nothing: Turn = {
  inputs: [],
  isHeld: () => true,
  mayContinue: () => false,
  keep: async () => {},
};

/** What a worker does that finds steps: it takes them, and begins them in a turn. */
const take = async (parts: TurnParts, then: Run, turn: Partial<Turn> = {}, known?: KnownRun) => {
  await takeSteps(fleet.database, parts.worker, MANY, {});
  return takeKnown(parts, known ?? (await fleet.known(parts.library.get, then)), {
    ...{ ...nothing, isHeld: () => false },
    ...turn,
  });
};
const MANY = { prompts: 1000, scripts: 1000 };

const typesOf = ({ decided }: Awaited<ReturnType<typeof takeTurn>>) =>
  decided.map(({ event }) => event.type);

function ended(step: number, text: string, agent = 'main'): Input {
  const facts = {
    directories: new Map(),
    workflows: new Map(),
    worktrees: new Map(),
    environment: new Set<string>(),
  };
  const reading = readTags(text, { code: 'ignored' });
  const account = { cost: NO_COST };
  const outcome = { kind: 'answered', reading, text: '', denied: [], facts, account } as const;
  return { kind: 'step-ended', at: Date.now(), agent, step, outcome };
}

/** The steps of the run that wait for a worker. */
const waiting = async () => {
  const rows = await fleet.database.query<{ step: string }>(
    "select agent || ' ' || step as step from raymond.claims where run = $1 and worker is null",
    [run.id],
  );
  return rows.map(({ step }) => step);
};

test('the first turn starts the first step, which waits for a worker, and a second turn does nothing', async () => {
  const a = await newWorker('a');
  expect(typesOf(await takeTurn(a, run, nothing))).toEqual(['step-started']);
  expect(await waiting()).toEqual(['main 1']);
  // The worker knows the run only as it was before.
  const again = await takeTurn(a, run, nothing);
  expect(typesOf(again)).toEqual([]);
  expect(again.news.map(({ event }) => event.type)).toEqual(['step-started']);
  expect(await waiting()).toEqual(['main 1']);
});

test('a script step needs few round trips to the database', async () => {
  const network = await startProxy(fleet.url, 20);
  const database = openDatabase({ url: network.url, connections: 1 });
  onTestFinished(async () => {
    await database.close();
    await network.close();
  });
  // Notices are not part of the step.
  const repeatable: Database['repeatable'] = (work) =>
    database.repeatable((queries) => work({ ...queries, announce: () => {} }));
  const a = { ...(await newWorker('a')), database: { ...database, repeatable } };
  const known = await fleet.known(a.library.get, run);
  const roundTrips = async (act: () => Promise<unknown>) => {
    const before = network.roundTrips();
    await act();
    return network.roundTrips() - before;
  };
  // It also opens the connection.
  await takeKnown(a, known, nothing);
  const record = (queries: Transaction, step: StepKey) =>
    keepOutput(queries, run.id, step, 'stdout', Buffer.from('text'));
  const keep = async (queries: Transaction, step: StepKey) => record(queries, step);
  const end = (step: number): Turn => ({
    ...{ ...nothing, keep, mayContinue: () => step === 1 },
    inputs: [ended(step, '<goto>NEXT.sh</goto>')],
  });
  // Looks for steps, begins the one that it has got, and stores its end with the next step.
  expect(await roundTrips(() => takeSteps(database, a.worker, MANY, {}))).toBe(1);
  const beginning = () => takeKnown(a, known, { ...nothing, isHeld: () => false });
  expect(await roundTrips(beginning)).toBe(2);
  expect(await roundTrips(() => takeKnown(a, known, end(1)))).toBe(2);
  // The worker has continued with the next step of the agent.
  expect(await roundTrips(() => takeKnown(a, known, end(2)))).toBe(2);
  expect(known.run.agents.get('main')).toMatchObject({ status: { kind: 'running', step: 3 } });
});

test('a step that waits for a worker does not work, and the journal says who begins it', async () => {
  const worker = await newWorker('one');
  await takeTurn(worker, run, nothing);
  const waiting = await fleet.look(run.id);
  expect(waiting.tally).toMatchObject({ scriptsRunning: 1, queued: 1 });
  const taken = await take(worker, run);
  expect(taken.decided.map(({ event }) => event)).toMatchObject([
    { type: 'step-taken', agent: 'main', step: 1, worker: 'one' },
  ]);
  const begun = await fleet.look(run.id);
  expect(begun).toMatchObject({ workedMs: 0, tally: { scriptsRunning: 1, queued: 0 } });
  // Once more, because the answer of the database was lost.
  const again = await take(worker, run);
  expect(typesOf(again)).toEqual([]);
});

test('a new run with the id of a removed one is not the run that a worker knows', async () => {
  const worker = await newWorker('one');
  const born = '00000000-0000-0000-0000-000000000000';
  const { mark } = await fleet.known(worker.library.get, run);
  const known = new KnownRun(worker.library.get, run, { ...mark, born });
  await expect(takeKnown(worker, known, nothing)).rejects.toThrow(RunGone);
});

test('two workers at once: one takes the step, and only its end counts, once', async () => {
  const [a, b] = [await newWorker('a'), await newWorker('b')];
  await takeTurn(a, run, nothing);
  const both = await Promise.all([take(a, run), take(b, run)]);
  expect(both.flatMap(({ taken }) => taken.map(({ how }) => how))).toEqual(['start']);
  const [winner, loser] = both[0]?.taken.length === 1 ? [a, b] : [b, a];
  const end = { ...nothing, inputs: [ended(1, '<goto>NEXT.sh</goto>')] };
  expect(typesOf(await takeTurn(loser, run, end))).toEqual([]);
  expect(typesOf(await takeTurn(winner, run, end))).toContain('step-ended');
  expect(typesOf(await takeTurn(winner, run, end))).toEqual([]);
  expect(await waiting()).toEqual(['main 2']);
});

test('a worker that was declared dead changes nothing, and its step goes to another one as lost', async () => {
  const [a, b] = [await newWorker('a', 1), await newWorker('b')];
  await takeTurn(b, run, nothing);
  await take(a, run);
  expect(await buryDead(fleet.database)).toEqual(['a']);
  const end = { ...nothing, inputs: [ended(1, '<goto>NEXT.sh</goto>')] };
  await expect(takeTurn(a, run, end)).rejects.toThrow(WorkerLost);
  expect(await waiting()).toEqual(['main 1']);
  const { taken } = await take(b, run);
  expect(taken).toMatchObject([{ how: 'lost', step: 1, claim: 1 }]);
});

test.each(['prompt', 'script'])(
  'a lost %s stays lost if the answer of the database is lost, or if its new worker starts again',
  async (kind) => {
    const [a, b] = [await newWorker('a', 1), await newWorker('b')];
    await takeTurn(b, run, nothing);
    await take(a, run);
    await fleet.database.query('update raymond.claims set kind = $1', [kind]);
    await buryDead(fleet.database);
    expect((await take(b, run)).taken).toMatchObject([{ how: 'lost' }]);
    // The worker has not heard of its success.
    expect((await take(b, run)).taken).toMatchObject([{ how: 'lost' }]);

    const again = await newWorker('b');
    expect((await take(again, run)).taken).toMatchObject([{ how: 'lost' }]);
    // The place where it began still knows how it ended.
    const first = await newWorker('a');
    expect((await take(first, run)).taken).toEqual([]);
    await fleet.database.query('update raymond.claims set worker = null');
    expect((await take(first, run)).taken).toMatchObject([{ how: 'adopt' }]);
  },
);

test('a worker that starts again is told of all steps that it had', async () => {
  const [a, b] = [await newWorker('a', 1), await newWorker('b')];
  await takeTurn(b, run, nothing);
  await take(a, run);
  await buryDead(fleet.database);
  const { taken } = await take(b, run);
  expect(taken).toMatchObject([{ how: 'lost' }]);
  const facts = { name: 'b', host: 'h', pid: 1, place: 'b', limits: { prompts: 1, scripts: 1 } };
  const { left } = await register(fleet.database, randomUUID(), facts, 60_000);
  expect(left).toEqual([run.id]);
});

test('a step whose worker starts again in the same folder is adopted', async () => {
  const a = await newWorker('a');
  await takeTurn(a, run, nothing);
  await take(a, run);
  const again = await newWorker('a');
  const { taken } = await take(again, run);
  expect(taken).toMatchObject([{ how: 'adopt', step: 1 }]);
  await expect(takeTurn(a, run, nothing)).rejects.toThrow(WorkerLost);
});

test('a worker continues with the next step of an agent, and finds the step again if the answer was lost', async () => {
  const a = await newWorker('a');
  await takeTurn(a, run, nothing);
  await take(a, run);
  const turn: Turn = {
    ...nothing,
    inputs: [ended(1, '<goto>NEXT.sh</goto>')],
    isHeld: ({ step }) => step === 1,
    mayContinue: (_agent, kind) => kind === 'script',
  };
  const { decided } = await takeTurn(a, run, turn);
  expect(decided.map(({ event }) => event).at(-1)).toMatchObject({
    ...{ type: 'step-started', agent: 'main', step: 2, worker: 'a' },
  });
  expect(await waiting()).toEqual([]);
  const { taken } = await takeTurn(a, run, turn);
  expect(taken).toMatchObject([{ agent: 'main', step: 2, how: 'adopt' }]);
});

test('a stop ends the steps that wait, and the run ends', async () => {
  const a = await newWorker('a');
  await takeTurn(a, run, nothing);
  await fleet.store.mailbox(run.id).post({ kind: 'stop', how: 'drain', pid: 0 });
  const result = await takeTurn(a, run, nothing);
  expect(typesOf(result)).toEqual(['stop-requested', 'step-interrupted', 'run-ended']);
  expect(result.run.status).toEqual({ kind: 'ended', outcome: 'interrupted' });
  expect(await fleet.store.mailbox(run.id).messages()).toEqual([]);
  expect((await take(a, run)).taken).toEqual([]);
});

test('a stop also ends a step that a worker has taken and not begun', async () => {
  const [a, b] = [await newWorker('a'), await newWorker('b')];
  await takeTurn(a, run, nothing);
  await takeSteps(fleet.database, b.worker, MANY, {});
  await fleet.store.mailbox(run.id).post({ kind: 'stop', how: 'drain', pid: 0 });
  const result = await takeTurn(a, run, nothing);
  expect(typesOf(result)).toEqual(['stop-requested', 'step-interrupted', 'run-ended']);
  expect((await take(b, run)).taken).toEqual([]);
});

test('a worker takes the oldest steps, as many as the limits allow', async () => {
  const [a, b] = [await newWorker('a'), await newWorker('b')];
  const runs = [run];
  for (let more = 0; more < 3; more++) runs.push(await fleet.look(await fleet.begin('flow')));
  for (const one of runs) await takeTurn(a, one, nothing);
  const two = { prompts: 5, scripts: 2 };
  const takeFor = ({ worker }: TurnParts, all = {}) => takeSteps(fleet.database, worker, two, all);
  const first = await takeFor(a);
  expect(runsOf(first.taken).sort()).toEqual(
    runs
      .slice(0, 2)
      .map(({ id }) => id)
      .sort(),
  );
  expect([...first.awaited]).toEqual(['script']);
  expect(runsOf((await takeFor(b, { scripts: 2 })).taken)).toEqual([]);
  expect(runsOf((await takeFor(b, { scripts: 3 })).taken)).toEqual([runs[2]?.id]);
  expect([...(await takeFor(b)).awaited]).toEqual([]);
});

const runsOf = (steps: readonly { readonly run: string }[]) => steps.map(({ run: id }) => id);

test('a worker that did not get the answer sees the steps that it has, also one that it can adopt', async () => {
  const a = await newWorker('a');
  await takeTurn(a, run, nothing);
  await take(a, run);
  // Its worker was declared dead, and the same place has the next one.
  await fleet.database.query('update raymond.claims set worker = null where run = $1', [run.id]);
  const lost = await takeSteps(fleet.database, a.worker, MANY, {});
  expect(lost).toMatchObject({ taken: [{ run: run.id, agent: 'main', step: 1 }], had: [] });
  const next = await takeSteps(fleet.database, a.worker, MANY, {});
  expect(next).toMatchObject({ taken: [], had: lost.taken });
});

test('a step that a worker takes while its place is registered again is free', async () => {
  const a = await newWorker('a');
  await takeTurn(a, run, nothing);
  let again: Promise<TurnParts> | undefined;
  await fleet.database.repeatable(async ({ query }) => {
    // The last turn of the earlier worker.
    await query('select from raymond.workers where id = $1 for key share', [a.worker.id]);
    await query('update raymond.claims set worker = $2, place = $3, claim = 1 where run = $1', [
      ...[run.id, a.worker.id, 'a'],
    ]);
    again = newWorker('a');
    await eventually('the registration waits', async () => {
      // In a transaction, the view would stay as it was at the first look.
      const waiting = await fleet.database.query(
        "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      );
      return waiting.length > 0;
    });
  });
  const b = await again;
  if (!b) throw new Error('Nobody has registered.');
  const { taken } = await take(b, run);
  expect(taken).toMatchObject([{ how: 'adopt', step: 1 }]);
});

test('a step waits again when the row of its worker is gone', async () => {
  const [a, b] = [await newWorker('a'), await newWorker('b')];
  await takeTurn(a, run, nothing);
  await take(b, run);
  expect(await waiting()).toEqual([]);
  await fleet.database.query('delete from raymond.workers where id = $1', [b.worker.id]);
  expect(await waiting()).toEqual(['main 1']);
  expect((await take(a, run)).taken).toMatchObject([{ how: 'lost', step: 1 }]);
});

test('a run that a worker refuses goes to the others, and the worker forgets the refusal when a person accepts the run', async () => {
  const [a, b] = [await newWorker('a'), await newWorker('b')];
  const { database } = fleet;
  const dueFor = (parts: TurnParts) => takeDue(database, parts.worker.id, 100);
  const terms = () => termsOf(database, run.id, a.worker.id);
  const refuseBy = async ({ worker }: TurnParts) =>
    refuse(database, run.id, worker.id, (await terms())?.reasons ?? '');
  await database.query('delete from raymond.wakeups where run <> $1', [run.id]);
  expect(await refuseBy(a)).toBe(true);
  expect(await refuseBy(a)).toBe(false);
  expect(await dueFor(a)).toEqual([]);
  expect(await dueFor(b)).toEqual([run.id]);

  // It gets none of the steps, either.
  await takeTurn(b, run, nothing);
  const other = await fleet.look(await fleet.begin('flow'));
  await takeTurn(b, other, nothing);
  expect(runsOf((await takeSteps(database, a.worker, MANY, {})).taken)).toEqual([other.id]);
  expect(runsOf((await takeSteps(database, b.worker, MANY, {})).taken)).toEqual([run.id]);

  expect(await terms()).toMatchObject({ isRefused: true });
  await wake(database, run.id);
  expect(await dueFor(a)).toEqual([]);
  await database.query('update raymond.runs set era = era + 1 where id = $1', [run.id]);
  expect(await terms()).toMatchObject({ isRefused: false });
  expect(await dueFor(a)).toEqual([run.id]);
  await refuseBy(a);
  await database.query('update raymond.refusals set until = now()');
  expect(await terms()).toMatchObject({ isRefused: false });
});

test('a turn decides nothing about a run that a command has changed', async () => {
  const a = await newWorker('a');
  const known = await fleet.known(a.library.get, run);
  await takeKnown(a, known, nothing);
  await fleet.store.mailbox(run.id).post({ kind: 'stop', how: 'drain', pid: 0 });
  await takeTurn(a, run, nothing);
  const lease = await fleet.store.lease(run.id);
  const { run: ended, journal } = await lease.open();
  const resumed = { type: 'run-resumed', at: Date.now(), settings: ended.settings } as const;
  await journal.append([resumed], apply(ended, resumed));
  await lease.release();
  await expect(takeKnown(a, known, nothing)).rejects.toThrow(RunChanged);
  await expect(takeKnown(a, known, nothing)).rejects.toThrow(RunChanged);
  expect((await fleet.look(run.id)).seq).toBe(ended.seq + 1);
});

test('a turn that fails leaves no traces in what the worker knows', async () => {
  const a = await newWorker('a');
  const known = await fleet.known(a.library.get, run);
  await takeKnown(a, known, nothing);
  await take(a, run, {}, known);
  const before = known.run;
  const end = { ...nothing, inputs: [ended(1, '<goto>NEXT.sh</goto>')] };
  const keep = () => Promise.reject(new Error('No space is left.'));
  await expect(takeKnown(a, known, { ...end, keep })).rejects.toThrow('No space is left.');
  expect(known.run).toBe(before);
  const types = typesOf(await takeKnown(a, known, end));
  expect(types).toEqual(['step-ended', 'agent-moved', 'step-started']);
});

test.each([
  ['ready for a prompt', 'ONE', undefined],
  [
    'waiting for an answer until a deadline',
    'NEXT.sh',
    '<ask next="NEXT.sh" timeout="1h" timeout_next="NEXT.sh">?</ask>',
  ],
])(
  'the work of a turn does not grow with the number of agents that are %s',
  async (_, state, answer) => {
    const work: Record<string, number>[] = [];
    for (const agents of [5, 50]) {
      run = await fleet.look(await fleet.begin('crowd', `${agents} ${state}`));
      const parts = await newWorker('a');
      const known = await fleet.known(parts.library.get, run);
      await takeKnown(parts, known, nothing);
      const forks = `<fork>${state}</fork>`.repeat(agents);
      const turn = async (inputs: readonly Input[], using = parts) => {
        const result = await takeKnown(using, known, { ...nothing, inputs });
        await take(parts, run, {}, known);
        return result;
      };
      await turn([]);
      await turn([ended(1, `${forks}<goto>LOOP.sh</goto>`)]);
      const workers = () => [...known.run.agents].filter(([id]) => id !== 'main');
      while (answer && workers().some(([, { status }]) => status.kind !== 'asking')) {
        const running = workers().filter(([, { status }]) => status.kind === 'running');
        await turn(running.map(([id]) => ended(1, answer, id)));
      }
      expect(known.run.agents.size).toBe(agents + 1);

      const { counted, count } = counting(parts);
      const { decided } = await takeKnown(counted, known, {
        ...nothing,
        inputs: [ended(2, '<goto>LOOP.sh</goto>')],
      });
      expect(decided.map(({ event }) => event.type)).toContain('step-started');
      work.push(count());
    }
    expect(work[1]).toEqual(work[0]);
  },
);

/** Counts the statements of a turn, the agents that it looks at one after the other, and the workflows. */
function counting(parts: TurnParts) {
  const counts = { statements: 0, entries: 0, workflows: 0 };
  const each = PersistentMap.prototype[Symbol.iterator];
  const spy = vi.spyOn(PersistentMap.prototype, Symbol.iterator).mockImplementation(function* (
    this: PersistentMap<unknown>,
  ) {
    for (const entry of each.call(this)) {
      counts.entries++;
      yield entry;
    }
  });
  const counted: TurnParts = {
    ...parts,
    library: {
      get(ref) {
        counts.workflows++;
        return parts.library.get(ref);
      },
    },
    database: {
      ...parts.database,
      repeatable: (work) =>
        parts.database.repeatable(({ query, write, announce }) =>
          work({
            announce,
            query(text, values) {
              counts.statements++;
              return query(text, values);
            },
            write(text, values) {
              counts.statements++;
              return write(text, values);
            },
          }),
        ),
    },
  };
  const count = () => {
    spy.mockRestore();
    return counts;
  };
  return { counted, count };
}

test('a usage limit stops the prompts of its executor only, and a worker looks when the first one ends', async () => {
  run = await fleet.look(await fleet.begin('crew'));
  const a = await newWorker('a');
  const turn = async (inputs: readonly Input[] = [], parts = a) => {
    const result = await takeTurn(parts, run, { ...nothing, inputs });
    // The worker takes what was started.
    await take(parts, run);
    return result;
  };
  await turn();
  const forks = '<fork>ONE</fork><fork>TWO</fork><fork>TWO</fork><join>START</join>';
  const begun = ['main_one1 claude', 'main_two2 codex', 'main_two3 codex'];
  expect(startedBy(await turn([ended(1, forks)]))).toEqual(begun);

  const start = Date.now();
  const [minute, hour] = [60_000, 3_600_000];
  const claude = start + 2 * hour + minute;
  const codex = start + hour + minute;
  const first = await turn([limited('main_one1', start, start + 2 * hour)]);
  expect(typesOf(first)).toEqual(['step-failed', 'usage-limited']);
  expect(await wakeUp()).toBe(claude);
  // An agent that reaches the limit also waits.
  const second = await turn([ended(1, '<goto>ONE</goto>', 'main_two2')]);
  expect(startedBy(second)).toEqual([]);
  const third = await turn([limited('main_two3', start, start + hour)]);
  expect(typesOf(third)).toEqual(['step-failed', 'usage-limited']);
  expect(third.run.limits).toEqual({ claude, codex });
  expect(await wakeUp()).toBe(codex);
  expect(typesOf(await turn([], later(a, hour)))).toEqual([]);

  const woken = await turn([], later(a, hour + 2 * minute));
  expect(typesOf(woken)).toEqual(['usage-limit-lifted', 'step-started']);
  expect(startedBy(woken)).toEqual(['main_two3 codex']);
  expect(await wakeUp()).toBe(claude);
  const result = ended(2, '<result>done</result>', 'main_two3');
  expect(startedBy(await turn([result], later(a, hour + 2 * minute)))).toEqual([]);
  const last = await turn([], later(a, 3 * hour));
  expect(typesOf(last)[0]).toBe('usage-limit-lifted');
  expect(startedBy(last)).toEqual(['main_one1 claude', 'main_two2 claude']);
  expect(await wakeUp()).toBeUndefined();
});

function limited(agent: string, at: number, resetsAt: number): Input {
  const failure = { kind: 'usage-limit', message: 'Enough.', resetsAt } as const;
  const outcome = { kind: 'failed', failure, account: { cost: NO_COST } } as const;
  return { kind: 'step-ended', at, agent, step: 1, outcome };
}

const startedBy = ({ decided }: Awaited<ReturnType<typeof takeTurn>>) =>
  decided.flatMap(({ event }) =>
    event.type === 'step-started' ? `${event.agent} ${event.executor}` : [],
  );

/** When a worker looks at the run again. */
async function wakeUp(): Promise<number | undefined> {
  const [found] = await fleet.database.query<{ at: number }>(
    'select extract(epoch from at)::float8 * 1000 as at from raymond.wakeups where run = $1',
    [run.id],
  );
  return found && Math.round(found.at);
}

/** The same worker when the clock of the database has advanced. */
function later(parts: TurnParts, ms: number): TurnParts {
  const { database } = parts;
  const advanced = <Row>(rows: readonly Row[]) =>
    rows.map((row) => {
      const isClock = typeof row === 'object' && row !== null && 'isLeased' in row && 'at' in row;
      return isClock ? { ...row, at: Number(row.at) + ms } : row;
    });
  return {
    ...parts,
    database: {
      ...database,
      repeatable: (work) =>
        database.repeatable((queries) =>
          work({
            ...queries,
            query: async (text, values) => advanced(await queries.query(text, values)),
          }),
        ),
    },
  };
}
